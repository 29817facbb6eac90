// VitePress's own theme, with the fonts of the reader's system: nothing to load.
import type { EnhanceAppContext } from 'vitepress'
import theme from 'vitepress/theme-without-fonts'
import './style.css'

export default {
  extends: theme,
  enhanceApp({ router }: EnhanceAppContext) {
    if (typeof window === 'undefined') return
    // an error names its section as in #QUEUE_FULL, and the anchors are in small letters
    const find = (): void => {
      const id = location.hash.slice(1)
      if (id === '' || document.getElementById(id) !== null) return
      const like = document.querySelector(`[id="${CSS.escape(id)}" i]`)
      if (like === null) return
      history.replaceState(history.state, '', `#${like.id}`)
      void router.go()
    }
    router.onAfterRouteChange = () => void requestAnimationFrame(find)
    window.addEventListener('hashchange', find)
  },
}
