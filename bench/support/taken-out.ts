import { registerHooks } from 'node:module'

/** A part of the sources that a bench takes out, to see what it costs. */
export interface TakenOut {
  /** The end of the file's path. */
  readonly file: string
  readonly text: string
  /** What stands in its place. */
  readonly instead: string
}

/**
 * Loads the sources of the packages without these parts from now on.
 *
 * @throws Error when a file is loaded that has no such text: then it has changed, and so must the bench.
 */
export function takeOut(parts: readonly TakenOut[]): void {
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      const own = parts.filter(({ file }) => url.endsWith(file))
      if (own.length === 0) return loaded
      let source = typeof loaded.source === 'string' ? loaded.source : new TextDecoder().decode(loaded.source)
      for (const { text, instead, file } of own) {
        if (!source.includes(text)) throw new Error(`Cannot take out of ${file}: ${text}`)
        source = source.replace(text, instead)
      }
      return { ...loaded, source }
    },
  })
}
