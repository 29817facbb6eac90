// What scrolls sideways and has more to show fades out at that edge: phones show no scroll bars.

const scrollers = '.vp-doc pre, .vp-doc .frame, .vp-doc .diagram'

function mark(element: Element): void {
  const { scrollLeft, scrollWidth, clientWidth } = element
  element.toggleAttribute('data-more-left', scrollLeft > 1)
  element.toggleAttribute('data-more-right', scrollWidth - clientWidth - scrollLeft > 1)
}

function markScrolled({ target }: Event): void {
  if (target instanceof Element && target.matches(scrollers)) mark(target)
}

/** Marks what scrolls, on this page and on those that follow. */
export function hintAtScrolling(): void {
  const known = new WeakSet<Element>()
  // also when a tab shows its code
  const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => mark(target)))
  const find = (): void => {
    for (const element of document.querySelectorAll(scrollers)) {
      if (known.has(element)) continue
      known.add(element)
      sizes.observe(element)
    }
  }
  new MutationObserver(find).observe(document.body, { childList: true, subtree: true })
  find()
  document.addEventListener('scroll', markScrolled, { capture: true, passive: true })
}
