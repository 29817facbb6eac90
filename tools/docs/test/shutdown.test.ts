import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, get, type IncomingMessage } from 'node:http'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { pages } from './blocks.ts'

const shutdown = pages.flatMap(({ blocks }) => blocks).find((code) => code.includes("process.once('SIGTERM'"))

/** Runs the guide's server as a process, whose API responds when it is told to. */
async function startServer(): Promise<{
  port: number
  child: ReturnType<typeof spawn>
  told(line: string): Promise<void>
}> {
  const folder = new URL('generated/shutdown/', import.meta.url)
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    new URL('server.ts', folder),
    `${shutdown?.replace('.listen(3_000)', '.listen(0)') ?? ''}
server.once('listening', () => console.log(server.address().port))`,
  )
  writeFileSync(
    new URL('tokens.ts', folder),
    `import { fakeTokens } from '@tokenlane/core/testing'
const waiting = []
process.on('message', () => waiting.shift()())
globalThis.fetch = async () => {
  console.log('called')
  await new Promise((resolve) => waiting.push(resolve))
  return new Response('records')
}
export const tokens = fakeTokens({ apis: ['https://reports.example.com/'] })`,
  )
  const child = spawn(process.execPath, [new URL('server.ts', folder).pathname], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  const lines = createInterface({ input: child.stdout as Readable })[Symbol.asyncIterator]()
  const { value: port } = (await lines.next()) as { value: string }
  return {
    port: Number(port),
    child,
    async told(line) {
      expect((await lines.next()).value).toBe(line)
    },
  }
}

test("the guide's server finishes its requests at SIGTERM, and ends although clients keep their connections", async () => {
  const { port, child, told } = await startServer()
  const agent = new Agent({ keepAlive: true })
  const responses = [0, 1].map(async () => {
    const [response] = (await once(get({ port, agent }), 'response')) as [IncomingMessage]
    response.resume()
    await once(response, 'end')
    return response.statusCode
  })
  await told('called')
  await told('called')
  child.send('respond')
  expect(await Promise.race(responses)).toBe(200)
  child.kill('SIGTERM')
  child.send('respond')
  expect(await Promise.all(responses)).toEqual([200, 200])
  expect(await once(child, 'exit')).toEqual([0, null])
  agent.destroy()
})
