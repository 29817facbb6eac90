import { render } from 'preact'

import { ApiCard } from './api-card.tsx'
import { connect, failure, link, state, useToken } from './connection.ts'
import { Environment } from './environment.tsx'
import { IssuerCard } from './issuer-card.tsx'
import { Journal } from './journal.tsx'
import { SkipLinks } from './notices.tsx'
import './style.css'
import { VerdictPanel } from './verdict-panel.tsx'

const linkTexts = {
  connecting: 'Connecting to the sandbox',
  live: 'Live',
  lost: 'The sandbox has stopped; waiting for it to come back',
  denied: 'This page has no token for this sandbox',
} as const

function App() {
  const now = state.value
  return (
    <>
      {now !== undefined && <SkipLinks />}
      <header class="top">
        <h1>Tokenlane sandbox</h1>
        <p class={`link ${link.value}`} role="status">
          {linkTexts[link.value]}
        </p>
      </header>
      <main>
        {link.value === 'denied' && <TokenForm />}
        {failure.value !== undefined && (
          <p class="notice bad" role="alert">
            {failure.value}
          </p>
        )}
        {now === undefined ? (
          link.value !== 'denied' && <p class="empty">Waiting for the sandbox's state.</p>
        ) : (
          <>
            <VerdictPanel />
            <Environment />
            <div class="cards">
              <IssuerCard realm="general" issuer={now.issuers.general} />
              <IssuerCard realm="weblink" issuer={now.issuers.weblink} />
              <ApiCard realm="general" api={now.apis.general} />
              <ApiCard realm="weblink" api={now.apis.weblink} />
            </div>
            <Journal />
          </>
        )}
      </main>
    </>
  )
}

function TokenForm() {
  return (
    <form
      class="notice actions"
      onSubmit={(event) => {
        event.preventDefault()
        useToken(new FormData(event.currentTarget).get('address') as string)
      }}
    >
      <label>
        Paste the console address that the sandbox printed when it started:{' '}
        <input name="address" autocomplete="off" required />
      </label>
      <button type="submit">Connect</button>
    </form>
  )
}

render(<App />, document.querySelector('#app') as HTMLElement)
void connect()
