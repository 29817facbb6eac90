import type { FaultState } from '../../src/index.ts'
import { duration } from './in-words.ts'

/** Returns a fault in plain words: "Half of the requests get 503, for 12 s more." */
export function faultText({ does, status, timeLeft, timesLeft, percent }: FaultState): string {
  const who = percent === 100 ? 'Requests' : `${percent} % of the requests`
  const meet =
    does === 'respond'
      ? `get ${status}`
      : does === 'cut'
        ? 'have their connection cut'
        : 'have their connection cut within the body'
  const until = timeLeft === null ? '' : `, for ${duration(timeLeft)} more`
  const most = timesLeft === null ? '' : `, ${timesLeft} times more`
  return `${who} ${meet}${until}${most}.`
}
