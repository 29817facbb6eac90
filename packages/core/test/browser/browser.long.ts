// Long: needs Chromium.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { expect, onTestFinished, test } from 'vitest'
import { launchChromium } from '../../../sandbox/test/chromium.ts'

// A browser starts when it starts: a busy machine may need long.
const source = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** The page and its worker, as a common bundler makes them. By path. */
async function bundle(): Promise<Map<string, string>> {
  const built = await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      rolldownOptions: {
        input: { page: source('page.ts'), worker: source('worker.ts') },
        output: { entryFileNames: '[name].js' },
      },
    },
  })
  const files = new Map([['/', '<!doctype html><script type="module" src="/page.js"></script>']])
  if (!('output' in built)) throw new Error('the bundler watches')
  for (const file of built.output) if (file.type === 'chunk') files.set(`/${file.fileName}`, file.code)
  return files
}

test('a page in Chromium, and its worker, get no manager and make no token request', async () => {
  const files = await bundle()
  const asked: string[] = []
  const told = Promise.withResolvers<string>()
  const server = createServer((request, response) => {
    const { url = '' } = request
    asked.push(url)
    if (url === '/told') told.resolve(text(request))
    const type = url === '/' ? 'text/html' : 'text/javascript'
    const file = files.get(url)
    response.writeHead(file === undefined ? 404 : 200, { 'content-type': type }).end(file)
  })
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const browser = await launchChromium()
  onTestFinished(() => browser.close())
  browser.once('disconnected', () => told.reject(new Error('Chromium ended by itself')))
  const page = await browser.newPage()
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  expect(JSON.parse(await told.promise)).toEqual({
    page: 'CLIENT_SIDE_FORBIDDEN',
    worker: 'CLIENT_SIDE_FORBIDDEN',
  })
  expect(asked).toContain('/worker.js')
  expect(asked).not.toContain('/token')
})
