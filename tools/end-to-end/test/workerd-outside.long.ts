// Long: needs workerd.
import { fileURLToPath } from 'node:url'

import { startSandbox } from '@tokenlane/sandbox'
import { expect, test } from 'vitest'

import { startWorkerd } from './workers/workerd.ts'

test.each(['2022-10-31', '2026-11-17'])(
  'a worker of %s that asks for a token while it loads is refused by name, and gets one in a handler',
  async (compatibilityDate) => {
    await using sandbox = await startSandbox({ records: 1 })
    const worker = fileURLToPath(new URL('./workers/worker/outside.ts', import.meta.url))
    await using workerd = await startWorkerd({ worker, sandbox, compatibilityDate })
    const response = await fetch(workerd.origin)
    expect(await response.json()).toEqual(['RUNTIME_UNSUPPORTED', 'token'])
  },
)
