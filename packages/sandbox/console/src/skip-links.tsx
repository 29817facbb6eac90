const places = { 'general-issuer': 'Issuers and APIs', journal: 'Journal' }

/** Links that appear when the keyboard reaches them: the rows of the journal are many stops. */
export function SkipLinks() {
  return (
    <nav class="skip" aria-label="on this page">
      {Object.entries(places).map(([id, name]) => (
        <a
          key={id}
          href={`#${id}`}
          onClick={(event) => {
            // the address has no fragment: it would be read as a token
            event.preventDefault()
            goTo(id)
          }}
        >
          {name}
        </a>
      ))}
    </nav>
  )
}

/** Scrolls to a heading by its id, and moves the focus there, so that the next Tab goes on from it. */
export function goTo(id: string): void {
  const heading = document.querySelector<HTMLElement>(`#${id}`)
  heading?.focus({ preventScroll: true })
  heading?.scrollIntoView({ block: 'start' })
}
