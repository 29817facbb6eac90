import { inspect } from 'node:util'

/** Looks for tokens and secrets in what errors print. */
export class SecretWatch {
  readonly #secrets = new Set<string>()
  readonly #looked = new Map<string, number>()
  readonly found: string[] = []
  errors = 0

  /** Keeps the newest hundred. */
  add(secret: string): void {
    this.#secrets.add(secret)
    for (const oldest of this.#secrets) {
      if (this.#secrets.size <= 100) break
      this.#secrets.delete(oldest)
    }
  }

  /** Looks at an error of a kind, the first forty of each: printing everything takes long. */
  look(kind: string, error: unknown): void {
    const looked = (this.#looked.get(kind) ?? 0) + 1
    this.#looked.set(kind, looked)
    if (looked > 40 || error === undefined) return
    this.errors += 1
    const shown = inspect(error) + inspect(error, { depth: 10, maxStringLength: null }) + jsonOf(error)
    if ([...this.#secrets].some((secret) => shown.includes(secret))) this.found.push(kind)
  }
}

/** What cannot be serialized, no logger can show as JSON. */
function jsonOf(error: unknown): string {
  try {
    return JSON.stringify(error) ?? ''
  } catch {
    return ''
  }
}
