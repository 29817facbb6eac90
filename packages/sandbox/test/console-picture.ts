// Takes the pictures of the console page for the documentation, docs/images/console*.png: pnpm console:picture
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
const pictures = [
  { name: 'console', scheme: 'light', width: 1280, height: 900 },
  { name: 'console-dark', scheme: 'dark', width: 1280, height: 900 },
  { name: 'console-narrow', scheme: 'light', width: 390, height: 560 },
  { name: 'console-narrow-dark', scheme: 'dark', width: 390, height: 560 },
]
for (const { name, scheme, width, height } of pictures) {
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
  await page.setViewport({ width, height })
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  await page.screenshot({
    path: fileURLToPath(new URL(`../../../docs/images/${name}.png`, import.meta.url)),
  })
}
program.isOver = true
await Promise.all(calling)
await browser.close()
await sandbox.close()
