// Readers type an anchor as they read its heading, such as #QUEUE_FULL; the anchors are in small letters.
import type { Router } from 'vitepress'

/** Goes to the anchor that differs from the address's only in upper and lower case, where the page has no other. */
export function findAnchors(router: Router): void {
  const find = (): void => {
    const id = location.hash.slice(1)
    if (id === '' || document.getElementById(id) !== null) return
    const like = document.querySelector(`[id="${CSS.escape(id)}" i]`)
    if (like === null) return
    history.replaceState(history.state, '', `#${like.id}`)
    void router.go()
  }
  // by then the page is there
  router.onAfterRouteChange = () => void requestAnimationFrame(find)
  window.addEventListener('hashchange', find)
}
