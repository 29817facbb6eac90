import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { startSandbox } from '@tokenlane/sandbox'
import { runProgram } from '@tokenlane/testing/run-program'
import { mustAnswerThroughTrouble } from '@tokenlane/testing/server-story'

test(
  'the server answers through an expiry and a refused secret, and ends in order',
  { timeout: 60_000 },
  async () => {
    const sandbox = await startSandbox()
    onTestFinished(() => sandbox.close())
    const server = runProgram(new URL('main.ts', import.meta.url), sandbox)
    const [url] = (await once(createInterface(server.stdout), 'line')) as [string]

    await mustAnswerThroughTrouble(url, sandbox)

    server.kill('SIGTERM')
    expect(await once(server, 'exit')).toEqual([0, null])
  },
)
