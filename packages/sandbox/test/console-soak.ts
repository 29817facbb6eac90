// Keeps the console page open under load, and measures its heap and the time between its frames:
// node packages/sandbox/test/console-soak.ts 600 (seconds), after console/build.ts
import { startSandbox } from '../src/index.ts'
import { launchChromium, openPage } from './chromium.ts'
import { callApi, tokenOf } from './client.ts'

const seconds = Number(process.argv[2] ?? 600)
const rate = 500
const report = Math.max(5, seconds / 10)

const sandbox = await startSandbox({
  control: true,
  tokenLifetime: 60_000,
  ratePolicies: { weblink: { limits: [{ quota: 600, window: 1_000 }] } },
})
const browser = await launchChromium()
const [page] = await openPage(browser, sandbox.consoleUrl as string, 1280)
const devtools = await page.createCDPSession()
await page.evaluate(`
  window.frames_ = []
  let last = performance.now()
  const step = (now) => { window.frames_.push(now - last); last = now; requestAnimationFrame(step) }
  requestAnimationFrame(step)`)

/** Every tenth of a second a tenth of a second's requests; the token is renewed by hand before its end. */
let token = await tokenOf(sandbox, 'weblink')
const renewing = setInterval(() => void tokenOf(sandbox, 'weblink').then((next) => (token = next)), 30_000)
let sent = 0
const sending = setInterval(() => {
  for (let call = 0; call < rate / 10; call += 1) {
    sent += 1
    void callApi(sandbox, 'weblink', { token }).catch(() => {})
  }
}, 100)

console.log('seconds  requests/s  page heap (MB)  frame p50 (ms)  frame p99 (ms)')
for (let at = report; at <= seconds; at += report) {
  const before = sandbox.control.counts().apis.weblink.calls
  await new Promise((resolve) => setTimeout(resolve, report * 1_000))
  const calls = sandbox.control.counts().apis.weblink.calls - before
  await devtools.send('HeapProfiler.collectGarbage')
  const { JSHeapUsedSize: heap = 0 } = await page.metrics()
  const frames = ((await page.evaluate('window.frames_.splice(0)')) as number[]).toSorted((a, b) => a - b)
  const quantile = (q: number): string => (frames[Math.floor(frames.length * q)] ?? 0).toFixed(1)
  const columns = [
    Math.round(at),
    Math.round(calls / report),
    (heap / 2 ** 20).toFixed(1),
    quantile(0.5),
    quantile(0.99),
  ]
  console.log(
    columns.map((column, index) => String(column).padStart([7, 12, 16, 16, 16][index] ?? 0)).join(''),
  )
}
console.log(`${sent} requests sent`)
clearInterval(sending)
clearInterval(renewing)
await browser.close()
await sandbox.close()
