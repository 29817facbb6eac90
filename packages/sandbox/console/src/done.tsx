import { done, type Place } from './connection.ts'

/** What the last button of a card did: seen, and read out by screen readers, which watch the element from the start. */
export function Done({ where }: { where: Place }) {
  return (
    <p class="done" role="status">
      {done.value?.where === where && done.value.text}
    </p>
  )
}
