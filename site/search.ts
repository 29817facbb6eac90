// VitePress's own search, for questions in the words of a reader.
import type { DefaultTheme } from 'vitepress'

type Options = NonNullable<DefaultTheme.LocalSearchOptions['miniSearch']>['searchOptions']

/** Browsers get these functions as text, so each uses nothing else of this file. */
export const searchOptions = {
  // words that stand on every page say little or nothing about the one that is wanted
  processTerm: (term: string) =>
    /^(?:[ai]|an|and|can|do|does|how|in|is|it|my|or|the|to|what|when|which)$/i.test(term)
      ? null
      : term.toLowerCase(),
  // `log` is not `long`
  fuzzy: (term: string) => (term.length < 4 ? false : 0.2),
  boostTerm: (term: string) =>
    /^(?:calls?|apis?|requests?|of|on|for|one|with|without)$/.test(term) ? 0.3 : 1,
  /** Pages that explain count more than those that show, list or belong to contributors; a page more than its parts. */
  boostDocument(id: string, _: string, stored?: { readonly titles?: readonly string[] }): number {
    const isPage = stored?.titles?.length === 0
    if (/^\/(?:guide\/)?(?:index\.html)?(?:#|$)/.test(id)) return 0.3
    if (isPage && /^\/examples\/\w/.test(id)) return 0.85
    if (/^\/(?:reference|examples|changelog|contributing|architecture|packages\/conformance)\b/.test(id))
      return 0.3
    if (id.startsWith('/guide/write-an-adapter.')) return 1
    // findings, alerts and public APIs are found by their names
    if (!isPage && /^\/(?:guide\/(?:doctor|judge|metrics|public-policies|sandbox)\.|security\b)/.test(id))
      return 0.6
    return (id.startsWith('/guide/') ? 1.5 : 1) * (isPage ? 1.5 : 1)
  },
} satisfies Options
