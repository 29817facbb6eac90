/** How long an API takes for a response, in milliseconds: the five kinds of the guide's table. */
export const answerTimes: Readonly<Record<string, () => number>> = {
  '1 ms': () => 1,
  '300 ms': () => 300,
  '2 s': () => 2_000,
  'lognormal, 300 ms': () => 300 * Math.exp(0.5 * gauss()),
  '100 to 3,000 ms': () => 100 + 2_900 * Math.random(),
}

function gauss(): number {
  return Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random())
}
