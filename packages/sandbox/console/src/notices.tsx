import { duration } from '../../src/in-words.ts'
import type { ApiState, FaultState, IssuerState, Latency } from '../../src/index.ts'
import { done, type Place } from './connection.ts'

type Faulty = Pick<ApiState | IssuerState, 'fault' | 'latency' | 'clockOffset'>

export function faultsOf({ fault, latency, clockOffset }: Faulty): string[] {
  return [
    ...(fault === null ? [] : [faultText(fault)]),
    ...(latency === 0 ? [] : [latencyText(latency)]),
    ...(clockOffset === 0
      ? []
      : [`The clock is ${duration(Math.abs(clockOffset))} ${clockOffset > 0 ? 'ahead' : 'behind'}.`]),
  ]
}

/** Always there, so that buttons do not move when a fault begins or ends. */
export function FaultNotice({ faults }: { faults: readonly string[] }) {
  return (
    <p class={faults.length === 0 ? 'notice none' : 'notice'}>{faults.join(' ') || 'No fault is set.'}</p>
  )
}

/** Returns a fault in plain words: "50% of the requests get 503, for 12 s more." */
function faultText({ does, status, timeLeft, timesLeft, percent }: FaultState): string {
  const who = percent === 100 ? 'Requests' : `${percent}% of the requests`
  const meet =
    does === 'respond'
      ? `get ${status}`
      : does === 'cut'
        ? 'lose their connection'
        : 'lose their connection mid-body'
  const until = timeLeft === null ? '' : `, for ${duration(timeLeft)} more`
  const most =
    timesLeft === null ? '' : `, for ${timesLeft === 1 ? '1 more request' : `${timesLeft} more requests`}`
  return `${who} ${meet}${until}${most}.`
}

function latencyText(latency: Latency): string {
  if (typeof latency === 'number') return `Responses are delayed by ${duration(latency)}.`
  if ('min' in latency)
    return `Responses are delayed by ${duration(latency.min)} to ${duration(latency.max)}.`
  return `Responses are delayed: half of them by more than ${duration(latency.median)}, 1% by more than ${duration(latency.p99)}.`
}

/** What the last button of a card did: seen, and read out by screen readers, which watch the element from the start. */
export function Done({ where }: { where: Place }) {
  return (
    <p class="done" role="status">
      {done.value?.where === where && done.value.text}
    </p>
  )
}

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
