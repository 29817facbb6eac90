import type { FaultState, Latency } from '../../src/index.ts'
import { duration } from './in-words.ts'

/** The faults that are set. Always there, so that buttons do not move when one begins or ends. */
export function FaultNotice({ fault, latency }: { fault: FaultState | null; latency: Latency }) {
  const texts = [
    ...(fault === null ? [] : [faultText(fault)]),
    ...(latency === 0 ? [] : ['Responses are held for a while.']),
  ]
  return <p class={texts.length === 0 ? 'notice none' : 'notice'}>{texts.join(' ') || 'No fault is set.'}</p>
}

/** Returns a fault in plain words: "Half of the requests get 503, for 12 s more." */
function faultText({ does, status, timeLeft, timesLeft, percent }: FaultState): string {
  const who = percent === 100 ? 'Requests' : `${percent}% of the requests`
  const meet =
    does === 'respond'
      ? `get ${status}`
      : does === 'cut'
        ? 'have their connection cut'
        : 'have their connection cut mid-body'
  const until = timeLeft === null ? '' : `, for ${duration(timeLeft)} more`
  const most =
    timesLeft === null ? '' : `, for ${timesLeft === 1 ? '1 more request' : `${timesLeft} more requests`}`
  return `${who} ${meet}${until}${most}.`
}
