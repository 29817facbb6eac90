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
 * Loads our own sources once for each case, without its parts: what is imported with `inCase`, and all that it imports.
 *
 * @throws Error when a file is loaded that has no such text: then it has changed, and so must the bench.
 */
export function loadCases(cases: readonly (readonly TakenOut[])[]): void {
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const resolved = nextResolve(specifier, context)
      const place = placeOf(context.parentURL)
      const isOurs = resolved.url.startsWith('file:') && !resolved.url.includes('/node_modules/')
      return place === undefined || !isOurs ? resolved : { ...resolved, url: inCase(resolved.url, place) }
    },
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      const place = placeOf(url)
      const own = place === undefined ? [] : (cases[place] ?? [])
      const parts = own.filter(({ file }) => url.endsWith(inCase(file, place as number)))
      if (parts.length === 0) return loaded
      let source = typeof loaded.source === 'string' ? loaded.source : new TextDecoder().decode(loaded.source)
      for (const { text, instead, file } of parts) {
        if (!source.includes(text)) throw new Error(`Cannot take out of ${file}: ${text}`)
        source = source.replace(text, () => instead)
      }
      return { ...loaded, source }
    },
  })
}

/** The URL of a module as the case at that place has it. */
export function inCase(url: string, place: number): string {
  return `${url}?case=${place}`
}

function placeOf(url: string | undefined): number | undefined {
  const [, place] = /\?case=(\d+)$/.exec(url ?? '') ?? []
  return place === undefined ? undefined : Number(place)
}
