// The fonts of the reader's system: nothing to load.
import { onContentUpdated, type EnhanceAppContext } from 'vitepress'
import theme from 'vitepress/theme-without-fonts'
import { rememberTabs, showChosenTabs } from './chosen-tabs.ts'
import { findAnchors } from './find-anchors.ts'
import { printLight } from './print-light.ts'
import { focusAfterSearch } from './focus-after-search.ts'
import { hintAtScrolling } from './scroll-hints.ts'
import { showPlace } from './show-place.ts'
import './style.css'

/** The index of the search, as VitePress loads it when the search is opened: by then it is there. */
function loadSearchIndex(): void {
  // @ts-expect-error a module that VitePress makes when it builds
  void import('@localSearchIndex').then(({ default: index }) => index.root())
}

export default {
  extends: theme,
  setup() {
    onContentUpdated(() => {
      showPlace()
      showChosenTabs()
    })
  },
  enhanceApp({ router }: EnhanceAppContext) {
    if (typeof window === 'undefined') return
    const whenIdle = window.requestIdleCallback ?? ((load: () => void) => setTimeout(load, 500))
    window.addEventListener('load', () => whenIdle(loadSearchIndex), { once: true })
    window.addEventListener('load', hintAtScrolling, { once: true })
    findAnchors(router)
    focusAfterSearch()
    rememberTabs()
    printLight()
  },
}
