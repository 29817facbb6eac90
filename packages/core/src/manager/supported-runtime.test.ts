import { expect, test } from 'vitest'

import { mustBeSupportedRuntime } from './supported-runtime.ts'

const forbidden = expect.objectContaining({ code: 'CLIENT_SIDE_FORBIDDEN' })
const chrome = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0'

test.each([
  ['a page', { window: {}, document: {}, navigator: { userAgent: chrome } }],
  ['a page that hides its browser', { window: {}, document: {} }],
  ['a page with the navigator of Node', { window: {}, document: {}, navigator: { userAgent: 'Node.js/24' } }],
  [
    'happy-dom',
    { window: {}, document: {}, navigator: { userAgent: 'Mozilla/5.0 (X11; Linux x64) HappyDOM/21.0.4' } },
  ],
  ['jsdom', { window: {}, document: {}, navigator: { userAgent: 'Mozilla/5.0 (linux) jsdom/31.0.1' } }],
  ['a worker of a page', { WorkerGlobalScope: EventTarget, navigator: { userAgent: chrome } }],
])('%s is refused', (_, globals) => {
  expect(() => mustBeSupportedRuntime(undefined, { URL, Promise, ...globals })).toThrow(forbidden)
})

test.each([
  ['Node', { navigator: { userAgent: 'Node.js/24' } }],
  ['Bun', { navigator: { userAgent: 'Bun/1.4.5' } }],
  ['Deno', { navigator: { userAgent: 'Deno/2.9.6' } }],
  ['a worker of Deno', { WorkerGlobalScope: EventTarget, navigator: { userAgent: 'Deno/2.9.6' } }],
  [
    'Cloudflare Workers',
    { WorkerGlobalScope: EventTarget, navigator: { userAgent: 'Cloudflare-Workers' }, window: undefined },
  ],
  ['an edge runtime without a navigator', { WorkerGlobalScope: EventTarget }],
  ['a server with a window of its own', { window: {} }],
  [
    'Node with a page of jsdom',
    { window: { navigator: {} }, document: {}, navigator: { userAgent: 'Node.js/24' } },
  ],
  [
    'Bun with a page of jsdom',
    { window: { navigator: {} }, document: {}, navigator: { userAgent: 'Bun/1.4.5' } },
  ],
])('%s is allowed', (_, globals) => {
  expect(() => mustBeSupportedRuntime(undefined, { URL, Promise, ...globals })).not.toThrow()
})

test('the message says why, and what to do in a test', () => {
  const page = { URL, Promise, window: {}, document: {}, navigator: { userAgent: chrome } }
  const start = (): void => mustBeSupportedRuntime(undefined, page)
  expect(start).toThrow('a browser cannot keep a client secret')
  expect(start).toThrow('in a test, use the node environment')
})

test.each([
  ['Node v20.20.2', '', { URL, Promise: {}, process: { version: 'v20.20.2' } }],
  ['this runtime', ', or a Workers `compatibility_date` of 2022-10-31 or later', { URL: {}, Promise }],
])('%s is refused as too old, with what is needed there%s', (name, others, globals) => {
  expect(() => mustBeSupportedRuntime(undefined, globals)).toThrow(
    expect.objectContaining({
      code: 'RUNTIME_UNSUPPORTED',
      message: expect.stringContaining(
        `${name} is too old; use Node 22.19, 24, 26 or later${others} (see`,
      ) as string,
    }),
  )
})

const jsdom = { userAgent: 'Mozilla/5.0 (linux) jsdom/31.0.1' }

const page = { URL, Promise, window: {}, document: {}, navigator: jsdom }

test('a page that says that it is a server is believed on Node', () => {
  const globals = { ...page, process: { version: 'v24.0.0', versions: { node: '24.0.0' } } }
  expect(() => mustBeSupportedRuntime('server', globals)).not.toThrow()
  expect(() => mustBeSupportedRuntime(undefined, globals)).toThrow(forbidden)
})

test.each([
  ['with the process of a bundler', { process: { versions: {} } }],
  ['without a process', {}],
])('a browser %s is not believed that it is a server', (_, more) => {
  expect(() => mustBeSupportedRuntime('server', { ...page, ...more })).toThrow(forbidden)
})
