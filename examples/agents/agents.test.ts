import tls from 'node:tls'
import { startSandbox } from '@tokenlane/sandbox'
import { text } from 'node:stream/consumers'
import { runProgram } from '@tokenlane/testing/run-program'
import { afterAll, expect, test, vi } from 'vitest'

// what the agents may do together, and what the API allows
const sandbox = await startSandbox({
  // a shorter window than the agents keep: either process may stand still on a busy machine
  ratePolicies: { general: { limits: [{ quota: 50, window: 600 }] } },
})
tls.setDefaultCACertificates([...tls.getCACertificates(), sandbox.ca])
const { clientId, clientSecret } = sandbox.credentials.general
const env = {
  MODEL_URL: sandbox.apiUrl,
  TOKEN_ENDPOINT: sandbox.control.state().issuers.general.tokenEndpoint,
  MODEL_CLIENT_ID: clientId,
  MODEL_CLIENT_SECRET: clientSecret,
}
for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
const { agents } = await import('./agents.ts')
const { runAgent } = await import('./agent.ts')
afterAll(async () => {
  await agents.close()
  await sandbox.close()
})

const url = `${sandbox.apiUrl}records/INV-0000001`
const calls = (count: number) => Array.from({ length: count }, () => ({ url }))

test('fifty agents take turns within one budget, however much one of them wants', async () => {
  const others = Array.from({ length: 49 }, (_, index) => `agent ${index + 2}`)
  await Promise.all(
    ['agent 1', ...others].map((name) => agents.get(name).warmUp()),
  )
  const order: string[] = []
  const run = (name: string, count: number): Promise<void> =>
    runAgent(name, calls(count), (_, status) => {
      expect(status).toBe(200)
      order.push(name)
    })
  // the greedy one comes first
  await Promise.all([run('agent 1', 60), ...others.map((name) => run(name, 2))])

  expect(order).toHaveLength(158)
  const lastOfOthers = order.findLastIndex((name) => name !== 'agent 1')
  const before = order
    .slice(0, lastOfOthers)
    .filter((name) => name === 'agent 1')
  // two rounds of turns, the calls that it had under way, and one more round for what came late
  expect(before.length).toBeLessThanOrEqual(2 + 4 + 4)
  // never more than the API allows
  expect(sandbox.control.counts().apis.general).toMatchObject({
    limited: 0,
    answered: 158,
  })
})

test('an urgent call of an agent goes before its others', async () => {
  const order: string[] = []
  const urgent = `${url}?urgent`
  await runAgent(
    'agent 1',
    [...calls(20), { url: urgent, urgent: true }],
    (one) => order.push(one),
  )
  // four calls were under way
  expect(order.indexOf(urgent)).toBeLessThanOrEqual(8)
})

test('the program draws a bar for each agent, and the one with most calls is last', async () => {
  const program = runProgram(new URL('main.ts', import.meta.url), sandbox)
  const lines = (await text(program.stdout)).trimEnd().split('\n')
  expect(lines).toHaveLength(51)
  expect(lines[0]).toBe(` agent 1 ${'█'.repeat(60)} done`)
  for (const line of lines.slice(1, 50))
    expect(line).toMatch(/^ ?agent \d+ ████ done$/)
  expect(lines.at(-1)).toBe('the last agent to finish: agent 1')
})

test('an agent that queues more than its share is refused, and another one still has its turn', async () => {
  let ofGreedy = 0
  const greedy = runAgent('agent 1', calls(300), () => (ofGreedy += 1))
  await expect(greedy).rejects.toMatchObject({ code: 'QUEUE_FULL' })
  await runAgent('agent 2', calls(1), () => {})
  // 204 of them are under way or queued
  expect(ofGreedy).toBeLessThan(100)
})
