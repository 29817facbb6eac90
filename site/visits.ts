// What readers do on the built site: find their place in the sidebar, choose tabs, print, get lost.
import type { Page } from 'puppeteer-core'

interface Visit {
  readonly says: string
  readonly path: string
  readonly width?: number
  readonly act?: (page: Page) => Promise<unknown>
  /** An expression that is true where all is well. */
  readonly expects: string
}

const inSight =
  "(() => { const place = document.querySelector('.VPSidebar .is-active > .item')?.getBoundingClientRect(); return place !== undefined && place.top >= 0 && place.bottom <= innerHeight })()"
const chosen =
  "Array.from(document.querySelectorAll('.vp-code-group input:checked + label'), (label) => label.innerText)"
const pressed = (name: string): string =>
  `Array.from(document.querySelectorAll('.vp-code-group label')).find((label) => label.innerText === '${name}').click()`

const inView = (id: string): string =>
  `(({ top }) => top > 64 && top < 200)(document.getElementById('${id}').getBoundingClientRect())`

const visits: readonly Visit[] = [
  ...['guide/troubleshoot', 'guide/providers', 'packages/axios', 'benchmarks'].map((path) => ({
    says: 'the sidebar shows the page that is read',
    path,
    expects: inSight,
  })),
  {
    says: 'the drawer of a phone shows the page that is read',
    path: 'guide/troubleshoot',
    width: 390,
    act: (page) => page.click('.VPLocalNav .menu'),
    expects: `document.querySelector('.VPSidebar').classList.contains('open') && ${inSight}`,
  },
  {
    says: 'a tab that is chosen is chosen in every group',
    path: 'guide/bootstrap',
    act: (page) => page.evaluate(pressed('pnpm')),
    expects: `!${chosen}.includes('npm')`,
  },
  {
    says: 'a chosen tab stays chosen on the next page',
    path: 'packages/axios',
    expects: `${chosen}.includes('pnpm') && !${chosen}.includes('npm')`,
  },
  {
    says: 'the tab that the keyboard is at has an outline',
    path: 'guide/bootstrap',
    act: async (page) => {
      await page.focus('.vp-code-group input')
      await page.keyboard.press('ArrowRight')
    },
    expects:
      "getComputedStyle(document.querySelector('input:focus-visible + label')).outlineStyle === 'solid'",
  },
  {
    says: 'the keyboard goes on at the button of the search that Escape closes',
    path: 'guide/troubleshoot',
    act: async (page) => {
      await page.keyboard.press('/')
      await page.waitForSelector('#localsearch-input:focus')
      await page.keyboard.press('Escape')
    },
    expects:
      "document.querySelector('.VPLocalSearchBox') === null && document.activeElement.matches('.DocSearch-Button')",
  },
  {
    says: 'the home page leads to the examples on a tablet',
    path: 'index',
    width: 768,
    expects: 'document.querySelector(\'.VPNavBar a[href^="/examples/"]\').checkVisibility()',
  },
  {
    says: 'a dark page prints the text alone, dark on white',
    path: 'guide/troubleshoot',
    act: async (page) => {
      await page.evaluate(
        "document.documentElement.classList.add('dark'); dispatchEvent(new Event('beforeprint'))",
      )
      await page.emulateMediaType('print')
    },
    expects:
      "!document.documentElement.classList.contains('dark') && ['.VPNav', '.VPSidebar', '.VPLocalNav', '.VPDocFooter'].every((bar) => document.querySelector(bar).checkVisibility() === false)",
  },
  {
    says: 'an anchor in capitals leads to its heading',
    path: 'guide/troubleshoot',
    act: async (page) => {
      await page.goto(`${page.url()}#QUEUE_FULL`)
      await page.reload({ waitUntil: 'networkidle0' })
    },
    expects: inView('queue_full'),
  },
  {
    says: 'an anchor in capitals, typed while the page is open, leads to its heading',
    path: 'guide/troubleshoot',
    act: (page) => page.goto(`${page.url()}#QUEUE_FULL`),
    expects: inView('queue_full'),
  },
  {
    says: 'a table of sentences fits a phone',
    path: 'guide/troubleshoot',
    width: 390,
    expects:
      "Array.from(document.querySelectorAll('.vp-doc .frame')).every((frame) => frame.scrollWidth <= frame.clientWidth)",
  },
  {
    says: 'the tables of the benchmarks fit beside both side columns',
    path: 'benchmarks',
    expects:
      "Array.from(document.querySelectorAll('.vp-doc .frame')).every((frame) => frame.scrollWidth <= frame.clientWidth)",
  },
  {
    says: 'the button of the page for lost readers leads where it says',
    path: '404',
    expects:
      "(({ pathname, innerText, ariaLabel }) => pathname === '/' && /home/.test(innerText) && ariaLabel === innerText)(document.querySelector('.NotFound a'))",
  },
  {
    says: 'the switch shows the dark picture of the console in a light system',
    path: 'index',
    act: (page) => page.evaluate("document.documentElement.classList.add('dark')"),
    expects:
      "Array.from(document.querySelectorAll('img[src*=console]')).filter((image) => image.checkVisibility()).map((image) => image.src).join().endsWith('console-dark.png')",
  },
]

/** Returns one sentence for each visit that ends otherwise than it should. */
export async function failedVisits(page: Page, origin: string): Promise<string[]> {
  const failed: string[] = []
  for (const { says, path, width = 1280, act, expects } of visits) {
    await page.emulateMediaType()
    await page.setViewport({ width, height: 800 })
    await page.goto(`${origin}/${path}.html`, { waitUntil: 'networkidle0' })
    await act?.(page)
    const well = await page
      .waitForFunction(expects, { timeout: 2_000 })
      .then(() => true)
      .catch(() => false)
    if (!well) failed.push(`${path}: not so: ${says}`)
  }
  await page.emulateMediaType()
  return failed
}
