import { writeSync } from 'node:fs'
import { Writable } from 'node:stream'

import { handedOver } from './own-process.ts'

/** Where the result of the command goes: standard output, which nothing else writes to. */
export const output: Writable & { readonly isTTY?: boolean; readonly columns?: number } =
  handedOver?.output === undefined ? process.stdout : writableTo(handedOver.output)

/** Writes a result. What an application prints goes to standard error. */
export function print(text: string): void {
  output.write(`${text}\n`)
}

/** Synchronous, so that what is written while the process exits arrives, too. */
function writableTo(descriptor: number): Writable {
  return new Writable({
    write(chunk: Uint8Array, _, done) {
      try {
        for (let at = 0; at < chunk.byteLength;) at += writeSync(descriptor, chunk, at)
        done()
      } catch (error) {
        done(error as Error)
      }
    },
  })
}

/** Writes to standard error, so that standard output has the files alone. */
export function tell(text: string): void {
  console.error(hanging('- ', text, 2, columnsOf(process.stderr, Infinity)))
}

/**
 * Says on standard error why a command ends early, and with `--json` on standard output too, as one object.
 *
 * @param text the message as standard error gets it.
 */
export function tellFailure(message: string, argv: readonly string[], text: string = message): void {
  console.error(text)
  const border = argv.indexOf('--')
  const own = border === -1 ? argv : argv.slice(0, border)
  if (own.includes('--json')) print(JSON.stringify({ ok: false, error: message }))
}

/** Returns the width of a stream. A terminal that does not know its own, such as that of `docker exec -t`, reports 0. */
export function columnsOf(stream: { readonly columns?: number } | undefined, otherwise: number): number {
  return stream?.columns || otherwise
}

/**
 * Returns a text behind `head`, broken between words into lines of at most `columns`. Lines after the first are
 * indented by `indent`. A word may be longer than a line.
 */
export function hanging(head: string, text: string, indent: number, columns: number): string {
  const lines: string[] = []
  const room = columns - indent
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= room)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return head + lines.join(`\n${' '.repeat(indent)}`)
}

/** The pages that this package brings, as `scripts/shipped-pages.ts` copies them: those that messages name, and more. */
export const guide = 'node_modules/tokenlane/guide'
