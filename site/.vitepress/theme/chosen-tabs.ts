// Who chooses pnpm or ky in one group of tabs sees it in all others too, and at the next visit.

const key = 'tokenlane-tabs'

/** The names of the chosen tabs, the last one first. */
function chosenNames(): string[] {
  try {
    const names: unknown = JSON.parse(localStorage.getItem(key) ?? '[]')
    return Array.isArray(names) ? names.map(String) : []
  } catch {
    return []
  }
}

function nameOf(tab: HTMLInputElement): string {
  return tab.labels?.[0]?.textContent ?? ''
}

/** Shows in each group the tab that was chosen last among its own. */
export function showChosenTabs(): void {
  const names = chosenNames()
  for (const group of document.querySelectorAll('.vp-code-group')) {
    const tabs = Array.from(group.querySelectorAll<HTMLInputElement>('.tabs input'))
    const name = names.find((each) => tabs.some((tab) => nameOf(tab) === each))
    const index = tabs.findIndex((tab) => nameOf(tab) === name)
    const tab = tabs[index]
    if (tab === undefined || tab.checked) continue
    // a click would scroll the page to this group
    tab.checked = true
    for (const [at, block] of Array.from(group.querySelector('.blocks')?.children ?? []).entries())
      block.classList.toggle('active', at === index)
  }
}

/** Remembers which tabs a reader chooses. */
export function rememberTabs(): void {
  document.addEventListener('change', ({ target }) => {
    if (!(target instanceof HTMLInputElement) || !target.matches('.vp-code-group .tabs input')) return
    const name = nameOf(target)
    try {
      localStorage.setItem(key, JSON.stringify([name, ...chosenNames().filter((each) => each !== name)]))
    } catch {
      // a browser that keeps nothing
      return
    }
    const { top } = target.getBoundingClientRect()
    showChosenTabs()
    // what changed its height above must not move what is read
    window.scrollBy(0, target.getBoundingClientRect().top - top)
  })
}
