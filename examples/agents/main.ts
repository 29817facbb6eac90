// Fifty agents and one model API. The first has 60 calls, each of the others has 4.
import { agents } from './agents.ts'
import { runAgent } from './agent.ts'

const { MODEL_URL = '' } = process.env
const names = Array.from({ length: 50 }, (_, index) => `agent ${index + 1}`)
const callsOf = (name: string): number => (name === 'agent 1' ? 60 : 4)

const done = new Map(names.map((name) => [name, 0]))
const finished: string[] = []
const start = performance.now()

await Promise.all(names.map((name) => agents.get(name).warmUp()))
await Promise.all(
  names.map(async (name) => {
    const url = `${MODEL_URL}records/INV-0000001`
    const calls = Array.from({ length: callsOf(name) }, () => ({ url }))
    await runAgent(name, calls, () => {
      done.set(name, (done.get(name) ?? 0) + 1)
      draw()
    })
    finished.push(name)
  }),
)
if (!process.stdout.isTTY) for (const name of names) console.log(barOf(name))
console.log(`the last agent to finish: ${finished.at(-1)}`)
await agents.close()

/** Draws all bars over those of before. */
function draw(): void {
  if (!process.stdout.isTTY) return
  const isFirst = [...done.values()].reduce((sum, one) => sum + one, 0) === 1
  const up = isFirst ? '' : `\u001B[${names.length}A`
  process.stdout.write(
    `${up}${names.map((name) => `\u001B[2K${barOf(name)}\n`).join('')}`,
  )
}

function barOf(name: string): string {
  const count = done.get(name) ?? 0
  const seconds = ((performance.now() - start) / 1_000).toFixed(1)
  const state = count === callsOf(name) ? 'done' : `${seconds} s`
  return `${name.padStart(8)} ${'█'.repeat(count)}${'·'.repeat(callsOf(name) - count)} ${state}`
}
