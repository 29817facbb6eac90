import { launch, type Browser, type Page } from 'puppeteer-core'

/** Debian's Chromium, or the one that CHROMIUM_PATH names. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium'
  try {
    return await launch({
      executablePath,
      args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'],
    })
  } catch (error) {
    throw new Error(
      `This test needs Chromium, and ${executablePath} does not start: name one in CHROMIUM_PATH`,
      {
        cause: error,
      },
    )
  }
}

/** Opens a page that fails the test when it says something on its console or asks for something elsewhere. */
export async function openPage(browser: Browser, url: string, width: number): Promise<[Page, string[]]> {
  const page = await browser.newPage()
  const faults: string[] = []
  page.on('console', (message) => {
    if (['error', 'warn'].includes(message.type())) faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin && !request.url().startsWith('data:'))
      faults.push(`asks for ${request.url()}`)
  })
  await page.setViewport({ width, height: 900 })
  await page.goto(url)
  return [page, faults]
}
