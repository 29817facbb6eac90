import fc from 'fast-check'
import { expect, test } from 'vitest'

import { astray, type Sent } from './guarded-apis.ts'

// URLs as an attacker, or a tired colleague, writes them. The hosts are those of `guarded-apis.ts`.

/** One of the words, or of the others, which are what a list of words cannot hold. */
function oneOf(words: string, ...others: readonly string[]): fc.Arbitrary<string> {
  return fc.constantFrom(...words.trim().split(/\s+/), ...others)
}

const scheme = oneOf('https: https: https: HTTPS: http: hTtPs: ftp: javascript: data:', '')
const slashes = oneOf(String.raw`// // // / /// \\ /\ ////`, '', '//\t', '\n//')
const userInfo = oneOf(
  String.raw`user@ user:pw@ @ :@ %40 evil.example@ api.example.com@ evil.example\@ evil.example#@ evil.example?@
  api.example.com:443@ a%2fb@`,
  ...Array.from({ length: 12 }, () => ''),
)
const host = oneOf(
  String.raw`api.example.com api.example.com weblink.example.com weblink.example.com bücher.example
  API.Example.COM api.example.com. api.example.com.. api.example.com.evil.example evil.example evilapi.example.com
  xapi.example.com example.com api.example.co api-example.com аpi.example.com api%2eexample%2ecom
  api.example.com%00 api.example.com%20 api.example.com%2f.evil.example api。example。com ａｐｉ.example.com
  xn--bcher-kva.example b%C3%BCcher.example BÜCHER.example faß.example 127.0.0.1 0x7f.1 2130706433 [::1]
  [::ffff:127.0.0.1] localhost . evil.example:443\ `,
  '',
  'api.example.com\u00AD',
  'api\u200B.example.com',
  'api.exam\tple.com',
  'bu\u0308cher.example',
)
const port = oneOf(
  ':443 :443 :0443 : :80 :8443 :8443 :444 :65536 :443@evil.example :443. :%34%34%33 :-443 :443x',
  ...Array.from({ length: 8 }, () => ''),
)
const segment = oneOf(
  String.raw`api api v2 v2 orders orders a%20b A%20B a%2520b a+b records 7 .. .. . %2e %2E%2e .%2e %2e. ...
  ..%2f %2f %2F.. %5c ..; ..\ %252e%252e API apix ordersX orders;x orders%00 orders%2f order @evil.example https:`,
  '',
  'a b',
  '\t',
  '\u00AD',
)
const separator = oneOf(String.raw`/ / / / / \ // /./ %2f`, '/\t')
const path = fc.array(fc.tuple(separator, segment), { maxLength: 5 }).map((parts) => parts.flat().join(''))
const tail = oneOf(
  String.raw`/ ? ?page=2 # #x ?next=https://api.example.com/ #@api.example.com/ ?/../../admin #/../../admin \ `,
  '',
  '',
  '',
  '',
  ' ',
  '\0',
)

const composed = fc.tuple(scheme, slashes, userInfo, host, port, path, tail).map((parts) => parts.join(''))

/** Within an API, or one trick away from it. */
const bases = oneOf(`https://api.example.com https://api.example.com/v2/orders https://weblink.example.com/api
  https://bücher.example:8443/a%20b`)
const near = fc.tuple(bases, path, tail).map((parts) => parts.join(''))

/** One more character where it hurts. */
const character = oneOf(String.raw`\ / @ : # ? . % %2f %00 。 [ 😀`, '\t', '\n', '\r', ' ', '\u2028')
const disturbed = fc.tuple(fc.oneof(composed, near), fc.nat(), character).map(([url, at, more]) => {
  const place = at % (url.length + 1)
  return url.slice(0, place) + more + url.slice(place)
})

/** One after the other, as a base URL and a relative one may be put together. */
const joined = fc
  .tuple(composed, oneOf(String.raw`/ // \ ? # @`, ''), composed)
  .map((parts) => parts.join(''))

/** A URL, absolute or not, valid or not, that tries to look as if it belonged to one of the guarded APIs. */
export const trickyUrl: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: composed },
  { weight: 5, arbitrary: near },
  { weight: 5, arbitrary: disturbed },
  { weight: 2, arbitrary: joined },
  { weight: 1, arbitrary: fc.webUrl({ withQueryParameters: true, withFragments: true, size: 'small' }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
)

/** How a client is sent tricky URLs. */
interface TrickyCalls<How> {
  /** How many calls to send where all tests run; a tenth of them otherwise. */
  readonly runs: number
  /** What a call has beside its URL. */
  readonly how: fc.Arbitrary<How>
  /** Makes a client that puts what it would send into `sent`, and returns the function that sends one call. */
  readonly open: (sent: Sent[]) => (url: string, how: How) => Promise<unknown>
  /** Whether a call to an API may go without a token after all. Default: none may. */
  readonly mayGoWithout?: (request: Sent, url: string, how: How) => boolean
}

/** Registers the test that calls to URLs that only look like an API's carry the token of where they lead, or none. */
export function testTrickyCalls<How>({ runs: most, how, open, mayGoWithout }: TrickyCalls<How>): void {
  const runs = process.env['TESTS'] === 'all' ? most : most / 10
  test(`${runs} tricky URLs carry the token of the API that they lead to, or none`, async () => {
    const sent: Sent[] = []
    const send = open(sent)
    const total = { token: 0, none: 0 }
    await fc.assert(
      fc.asyncProperty(trickyUrl, how, async (url, given) => {
        sent.length = 0
        // what a client does not take is not sent
        await (async () => send(url, given))().catch(() => {})
        const wrong = astray(sent).filter((request) => mayGoWithout?.(request, url, given) !== true)
        expect(wrong).toEqual([])
        for (const { authorization } of sent) total[authorization === null ? 'none' : 'token'] += 1
      }),
      { numRuns: runs },
    )
    expect(Math.min(...Object.values(total))).toBeGreaterThan(runs / 50)
  })
}
