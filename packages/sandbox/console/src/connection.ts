// What the sandbox reports, live, and what it is asked to do: one stream of events, one function for every command.
import { batch, signal } from '@preact/signals'
import { createParser } from 'eventsource-parser'
import type { JournalEntry, Realm, SandboxState, Verdict } from '../../src/index.ts'

/** `denied`: the address has no token, or that of another sandbox: this one was restarted perhaps. */
export type Link = 'connecting' | 'live' | 'lost' | 'denied'

/** Entries that the page keeps; the sandbox has more. */
const mostEntries = 1_000

export const link = signal<Link>('connecting')
export const state = signal<SandboxState | undefined>(undefined)
/** `undefined` until the sandbox has said it. */
export const verdict = signal<Verdict | undefined>(undefined)
/** The oldest first. */
export const journal = signal<readonly JournalEntry[]>([])
/** What the last command could not do. */
export const failure = signal<string | undefined>(undefined)
/** What the last command did, and to what. */
export const done = signal<{ readonly where: string; readonly text: string } | undefined>(undefined)

let token = takeToken()
let arrived: JournalEntry[] = []
let newest: SandboxState | undefined
/** How often the page was emptied: an answer to a request from before is ignored. */
let emptied = 0

export async function connect(): Promise<void> {
  setInterval(show, 250)
  setInterval(() => void judge(), 2_000)
  for (;;) {
    await follow()
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  }
}

export function useToken(text: string): void {
  token = text.replace(/^.*#token=/, '').trim()
  sessionStorage.setItem('token', token)
  link.value = 'connecting'
}

// the console address pasted into the address bar of the open page changes its fragment only
addEventListener('hashchange', () => {
  token = takeToken()
  if (link.value === 'denied') link.value = 'connecting'
})

/** Where a command has its effect: a card of the page, by the id of its heading. */
export type Place = `${Realm}-${'issuer' | 'api'}` | 'journal'

/**
 * Calls a control function by its path, and says what it did at its place of the page. Returns whether it did it:
 * `act('revoke-tokens', { issuer: 'weblink' }, 'weblink-issuer', 'Revoked 2 tokens.')`.
 */
export async function act(
  name: string,
  parameters: Readonly<Record<string, unknown>>,
  where: Place,
  text: string,
): Promise<boolean> {
  failure.value = undefined
  done.value = undefined
  try {
    const response = await request(`v1/${name}`, { method: 'POST', body: JSON.stringify(parameters) })
    if (response.ok) {
      // with the time, so that the same button says something each time
      done.value = { where, text: `${new Date().toLocaleTimeString('en-GB')}  ${text}` }
      return true
    }
    failure.value = ((await response.json()) as { detail?: string }).detail ?? `status ${response.status}`
  } catch {
    failure.value = 'The sandbox cannot be reached'
  }
  return false
}

/** Removes journal and verdict from the page, both at once. */
export function emptyPage(): void {
  arrived = []
  emptied += 1
  batch(() => {
    journal.value = []
    verdict.value = undefined
  })
}

export async function environment(): Promise<Record<string, string>> {
  const response = await request('v1/environment')
  if (!response.ok) throw new Error(`status ${response.status}`)
  return (await response.json()) as Record<string, string>
}

const request = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(path, { ...init, headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' } })

/** The token comes in the fragment, which no server sees, and leaves the address at once. */
function takeToken(): string {
  const given = /^#token=(.+)$/.exec(location.hash)?.[1]
  if (given !== undefined) {
    sessionStorage.setItem('token', given)
    history.replaceState(undefined, '', location.pathname + location.search)
  }
  return sessionStorage.getItem('token') ?? ''
}

async function follow(): Promise<void> {
  try {
    const response = await request('v1/events?after=0')
    if (response.status === 401) link.value = 'denied'
    if (!response.ok || response.body === null) return
    batch(() => {
      emptyPage()
      link.value = 'live'
    })
    void judge()
    const parser = createParser({
      onEvent({ event, data }) {
        if (event === 'journal') arrived.push(JSON.parse(data) as JournalEntry)
        else if (event === 'state') newest = JSON.parse(data) as SandboxState
      },
    })
    const texts = response.body.pipeThrough(new TextDecoderStream()).getReader()
    for (let read = await texts.read(); !read.done; read = await texts.read()) parser.feed(read.value)
  } catch {
    // the sandbox is gone; the caller tries again
  }
  if (link.value === 'live') link.value = 'lost'
}

/** Shows what arrived since the last time: four times a second, however many requests there are. */
function show(): void {
  if (newest === undefined && arrived.length === 0) return
  const entries = arrived
  const now = newest
  arrived = []
  newest = undefined
  batch(() => {
    if (entries.length > 0) journal.value = [...journal.value, ...entries].slice(-mostEntries)
    if (now !== undefined) state.value = now
  })
}

async function judge(): Promise<void> {
  if (link.value !== 'live') return
  const before = emptied
  try {
    const response = await request('v1/verdict')
    if (!response.ok) return
    const judged = (await response.json()) as Verdict
    if (emptied === before) verdict.value = judged
  } catch {
    // the stream of events notices it
  }
}
