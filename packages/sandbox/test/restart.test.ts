import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { startSandbox, type Sandbox } from '../src/index.ts'
import { callApi, requestToken } from './client.ts'

const found = (sandbox: Sandbox): string[] => sandbox.control.verdict().findings.map(({ rule }) => rule)

async function start(): Promise<Sandbox> {
  const folder = mkdtempSync(join(tmpdir(), 'restart-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const sandbox = await startSandbox({ caFile: join(folder, 'ca.pem') })
  onTestFinished(() => sandbox.close())
  return sandbox
}

const program = `
  const { AUTH_URL, API_URL, GENERAL_CLIENT_ID: client_id, GENERAL_CLIENT_SECRET: client_secret } = process.env
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
  const { access_token } = await (await fetch(AUTH_URL + '/public/security/v1/token', { method: 'POST', body })).json()
  const call = await fetch(API_URL + 'records', { headers: { authorization: 'Bearer ' + access_token } })
  await call.arrayBuffer()`

test('a program that is started again is not held against its first start', async () => {
  const sandbox = await start()
  const env = { ...process.env, ...sandbox.control.environment() }
  for (let run = 0; run < 3; run += 1) {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      env,
      stdio: 'inherit',
    })
    await once(child, 'exit')
  }
  expect(sandbox.control.counts().issuers.general.issued).toBe(3)
  expect(found(sandbox)).toEqual([])
})

test('one process that closes its connections between two tokens is', async () => {
  const sandbox = await start()
  const agent = new Agent({ ca: sandbox.ca, keepAlive: true })
  const tls = { agent }
  for (let round = 0; round < 2; round += 1) {
    const { json } = await requestToken(sandbox, 'general', {}, { tls })
    await callApi(sandbox, 'general', { token: json['access_token'] as string, tls })
    agent.destroy()
  }
  expect(found(sandbox)).toEqual(['needless-renewal'])
})
