// Takes the pictures of the console page for the documentation, docs/images/console*.png.
import { fileURLToPath } from 'node:url'
import { startSandbox } from '../src/index.ts'
import { launchChromium, openPage } from './chromium.ts'
import { callApi, requestToken, tokenOf } from './client.ts'

const sandbox = await startSandbox({
  control: true,
  tokenLifetime: 60_000,
  ratePolicies: { weblink: { limits: [{ quota: 25, window: 1_000 }] } },
})
const { control } = sandbox
const browser = await launchChromium()
const [page] = await openPage(browser, sandbox.consoleUrl as string, 1280)
const token = await tokenOf(sandbox, 'weblink')

/** A program with two mistakes: it requests tokens that it does not need, and calls faster than it may. */
const program = { isOver: false }
const calling = Array.from({ length: 3 }, async () => {
  while (!program.isOver) {
    await callApi(sandbox, 'weblink', { token })
    await new Promise((resolve) => setTimeout(resolve, 105 + Math.random() * 30))
  }
})
await Promise.all([1, 2, 3].map(() => requestToken(sandbox, 'general')))
const general = await tokenOf(sandbox, 'general')
for (let second = 0; second < 50; second += 1) {
  await callApi(sandbox, 'general', { token: general })
  if (second === 20) control.failIssuer('general', { status: 503, for: 60_000, percent: 50 })
  if (second === 25) void requestToken(sandbox, 'general')
  await new Promise((resolve) => setTimeout(resolve, 1_000))
}
await page.click('.findings summary')
const pictures = [
  { name: 'console', scheme: 'light', width: 1280 },
  { name: 'console-dark', scheme: 'dark', width: 1280 },
  { name: 'console-narrow', scheme: 'light', width: 390 },
  { name: 'console-narrow-dark', scheme: 'dark', width: 390 },
]
for (const { name, scheme, width } of pictures) {
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
  await page.setViewport({ width, height: 900 })
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  // as far as the first card goes
  const height = await page.$eval('.card:not(.wide)', (card) => card.getBoundingClientRect().bottom + 12)
  await page.screenshot({
    clip: { x: 0, y: 0, width, height },
    path: fileURLToPath(new URL(`../../../docs/images/${name}.png`, import.meta.url)),
  })
}
program.isOver = true
await Promise.all(calling)
await browser.close()
await sandbox.close()
