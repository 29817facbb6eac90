import { asyncContext, type AsyncContext } from '@tokenlane/core/adapter'

type Fetch = typeof globalThis.fetch

/** A call on its way through what has replaced the global `fetch`. */
interface Passage {
  readonly owner: object
  readonly url: string
  readonly through: Fetch
  readonly outer: Passage | undefined
}

let passages: AsyncContext<Passage> | undefined

/**
 * Returns a `fetch` that calls the global one as it is at each call, so that a tracer or mock that replaces it later sees the
 * calls too. What has replaced it may lead back to `own`, where that was the global one: then the call goes on to what was
 * the global one before.
 */
export function globalFetch(own: () => Fetch): Fetch {
  const before = globalThis.fetch
  const leadBack = new WeakSet<Fetch>()
  const global: Fetch = (...given) => {
    const { fetch } = globalThis
    if (fetch === before || fetch === own() || leadBack.has(fetch)) return before(...given)
    passages ??= asyncContext<Passage>()
    // without a context, nothing shows what leads back
    if (passages === undefined) return before(...given)
    const [input] = given
    const outer = passages.getStore()
    const url = new URL(typeof input === 'object' && 'url' in input ? input.url : String(input)).href
    for (let passage = outer; passage !== undefined; passage = passage.outer)
      if (passage.owner === leadBack && passage.url === url) {
        leadBack.add(passage.through)
        return before(...given)
      }
    return passages.run({ owner: leadBack, url, through: fetch, outer }, () => fetch(...given))
  }
  return global
}
