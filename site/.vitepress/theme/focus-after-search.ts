// Escape closes the search: the keyboard goes on at its button, where VitePress would begin the page again.

/** Focuses the button of the search once Escape has closed it. */
export function focusAfterSearch(): void {
  window.addEventListener(
    'keydown',
    ({ key }) => {
      if (key !== 'Escape' || document.querySelector('.VPLocalSearchBox') === null) return
      setTimeout(() => document.querySelector<HTMLElement>('.DocSearch-Button')?.focus(), 50)
    },
    { capture: true },
  )
}
