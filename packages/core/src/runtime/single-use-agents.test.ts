import http from 'node:http'
import https from 'node:https'
import { afterEach, expect, test, vi } from 'vitest'

import { singleUseAgents } from './single-use-agents.ts'

afterEach(() => vi.unstubAllGlobals())

test('Node uses its connections again', () => {
  expect(singleUseAgents()).toBeUndefined()
})

test('on Deno each connection serves one request, and the agents are always the same', () => {
  vi.stubGlobal('process', { versions: { deno: '2.9.6' }, getBuiltinModule: process.getBuiltinModule })
  const agents = singleUseAgents()
  expect(agents?.http).toBeInstanceOf(http.Agent)
  expect(agents?.https).toBeInstanceOf(https.Agent)
  expect(agents?.https).toMatchObject({ options: { keepAlive: false } })
  expect(singleUseAgents()).toBe(agents)
})
