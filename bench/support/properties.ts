import type { Client } from '../children/caller.ts'
import type { TakenOut } from './taken-out.ts'

/** A property, as a reader of the guide knows it, and the code that it consists of. */
export type Properties = Readonly<Record<string, readonly TakenOut[]>>

/** What every client's calls have. */
const common: Properties = {
  'two clocks for the age of the token': [
    {
      file: '/core/src/time/expiry.ts',
      text: 'return Date.now() >= this.#wall || performance.now() >= this.#monotonic',
      instead: 'return false',
    },
  ],
}

const live = 'a live token each time, one more attempt after a 401, and `close()` waits'

/** What a module has made once, in code that takes the place of other code. */
const once = '((globalThis as any)[import.meta.url] ??= {})'

/** Sends with the token of the first call. */
const sendOnce = `(${once}.send ??= (() => {
  const pass = api.admitNow() as any
  const { authorization } = pass
  pass.release()
  return async (attempt: any) => (await attempt(authorization)).result
})())(`

/** What a call has beside that where its API has a rate policy. */
export const ofPolicy: Properties = {
  'a 429, and what the API says of its limits, pauses it': [
    {
      file: '/core/src/queue/api-budget.ts',
      text: `const isRefused = this.#pauses.answered(call, response)
    this.#reported.answered(call, response, isRefused)
    return isRefused`,
      instead: 'return false',
    },
    { file: '/core/src/queue/api-budget.ts', text: 'this.#pauses.sent(call)', instead: '' },
    { file: '/core/src/queue/api-budget.ts', text: 'this.#pauses.left(call, sent)', instead: '' },
    {
      file: '/core/src/queue/turns.ts',
      text: `const pause = this.#budget.pausedFor(now)
    if (pause > 0) return pause`,
      instead: '',
    },
  ],
  'how long the queue will take is known': [
    { file: '/core/src/queue/turns.ts', text: 'this.#progress.answered(turn.takenAt)', instead: '' },
    { file: '/core/src/queue/turns.ts', text: 'this.#progress.left(turn.takenAt)', instead: '' },
  ],
  'a limit of calls in a window, counted from their responses': [
    {
      file: '/core/src/queue/api-budget.ts',
      text: 'return this.#limiter.take(couldUse)',
      instead: `return (${once}.permit ??= { answered() {}, ended() {}, cancel() {} })`,
    },
  ],
}

/** The same for calls of the Fetch standard. */
const sendingOnce: readonly TakenOut[] = [
  {
    file: '/core/src/exchange/send-within-api.ts',
    text: 'return api.send((token) => {',
    instead: `return ${sendOnce}(token: string) => {`,
  },
]

/** By client, in the order in which it is taken out: the property, as a reader of the guide knows it, and its code. */
export const properties: Readonly<Record<Client, Properties>> = {
  axios: {
    ...common,
    'response and error show no token': [
      {
        file: '/axios/src/attempt.ts',
        text: 'scrub(response, this.config, this.#given)',
        instead: '',
      },
    ],
    'no printer gets from them to other requests under way': [
      {
        file: '/axios/src/attempt.ts',
        text: 'withRequestHidden(response, this.#given, this.#via)',
        instead: 'response',
      },
      { file: '/axios/src/managed-adapter.ts', text: 'hideAgent(config.httpAgent)', instead: '' },
      { file: '/axios/src/managed-adapter.ts', text: 'hideAgent(config.httpsAgent)', instead: '' },
    ],
    'redirects keep the token within the API only': [
      {
        file: '/axios/src/attempt.ts',
        text: 'config.beforeRedirect = (...redirect)',
        instead: 'const unused = (...redirect: any[])',
      },
    ],
    'a call starts in the turn that it is made in, as with axios alone': [
      { file: '/axios/src/index.ts', text: '{ synchronous: true }', instead: '{}' },
    ],
    "the caller's own `Authorization` or `auth` wins": [
      {
        file: '/axios/src/managed-adapter.ts',
        text: 'hasOwnCredentials(config) ? undefined : urlOf(target, config)',
        instead: 'urlOf(target, config)',
      },
    ],
    [live]: [
      { file: '/axios/src/managed-adapter.ts', text: 'await api.send(', instead: `await ${sendOnce}` },
    ],
    'the API is that of the URL, over TLS 1.2': [
      {
        file: '/axios/src/managed-adapter.ts',
        text: 'url === undefined ? undefined : tokens.route(url)',
        instead: `(${once}.api ??= tokens.route(url as string))`,
      },
      {
        file: '/axios/src/managed-adapter.ts',
        text: 'mustBeSecure(config, { url: api.baseUrl, via })',
        instead: '',
      },
    ],
  },
  got: {
    ...common,
    "neither got's options nor a request on its way show the token": [
      { file: '/got/src/call.ts', text: 'hideToken(request)', instead: '' },
      { file: '/got/src/call.ts', text: 'forgetToken(request)', instead: 'undefined' },
      { file: '/got/src/call.ts', text: "request.on('finish', forget)", instead: '' },
      { file: '/got/src/call.ts', text: 'redact(headers)', instead: '' },
    ],
    'redirects keep the token within the API only, which is that of the URL, over TLS 1.2': [
      {
        file: '/got/src/call.ts',
        text: 'hopTo(this.#tokens, options, retryCount, before)',
        instead: `(${once}.hop ??= hopTo(this.#tokens, options, retryCount, before))`,
      },
      { file: '/got/src/call.ts', text: 'mustBeSecure(options)', instead: '' },
      {
        file: '/got/src/call.ts',
        text: 'url.href !== href && this.#tokens.route(url.href) !== api',
        instead: 'false',
      },
    ],
    [live]: [
      {
        file: '/got/src/call.ts',
        text: 'api.admitNow(this.#asked(options, hop, waitSignal))',
        instead: `(${once}.pass ??= (() => {
          const pass = api.admitNow(this.#asked(options, hop)) as Pass
          const { authorization } = pass
          pass.release()
          return { authorization, sent() {}, release() {} }
        })())`,
      },
      { file: '/got/src/call.ts', text: 'this.#letClose ??= api.keepOpen()', instead: '' },
      {
        file: '/got/src/call.ts',
        text: 'request.on(errorMonitor, (error: unknown) => (failure = error))',
        instead: 'const on = (..._: any[]) => undefined',
      },
      { file: '/got/src/call.ts', text: "request.on('response'", instead: "on('response'" },
      { file: '/got/src/call.ts', text: "request.on('close'", instead: "on('close'" },
    ],
    "`timeout` does not count the wait, and hooks may change the URL (a hook of got's)": [
      {
        file: '/got/src/call.ts',
        text: 'hooks.beforeRequest = [...this.#others(hooks.beforeRequest), markHook(this.#beforeRequest, tokens)]',
        instead: 'void this.#beforeRequest(options, { retryCount: 0 })',
      },
    ],
  },
  ky: {
    ...common,
    "`timeout` does not count the wait (a hook of ky's)": [
      {
        file: '/ky/src/index.ts',
        text: 'beforeRequest: [...beforeRequest, wait]',
        instead: 'beforeRequest',
      },
    ],
    'a `fetch` option of one call gets the token, and ky 1 is refused (two hooks of ky)': [
      {
        file: '/ky/src/index.ts',
        text: 'return { hooks: { init: [(options) => manage(options, tokens, attached)], beforeRequest: [mustBeKy2] } }',
        instead:
          'return { fetch: (request, init) => new Call({}, attached).send(request as Request, init) } as never',
      },
    ],
    'redirects keep the token within the API only': [
      {
        file: '/core/src/exchange/outgoing-request.ts',
        text: "this.followsRedirects = request.redirect === 'follow'",
        instead: 'this.followsRedirects = false',
      },
    ],
    "the caller's own `Authorization` wins": [
      {
        file: '/ky/src/call.ts',
        text: "if (request.headers.has('authorization')) return undefined",
        instead: '',
      },
    ],
    [live]: sendingOnce,
    'the API is that of the URL, over TLS 1.2': [
      {
        file: '/ky/src/call.ts',
        text: 'this.#attached.route(request.url)',
        instead: `(${once}.api ??= this.#attached.route(request.url))`,
      },
      { file: '/ky/src/call.ts', text: 'dispatcherMustKeepFloor({', instead: 'void ({' },
    ],
  },
  fetch: {
    ...common,
    'the caller may change `init` and headers while the call waits': [
      {
        file: '/fetch/src/call.ts',
        text: 'const { tokenlane, ...init } = given',
        instead: 'const init = given; const tokenlane = undefined',
      },
      {
        file: '/fetch/src/call.ts',
        text: 'this.#fields = copyOfFields(init.headers)',
        instead: 'this.#fields = init.headers',
      },
    ],
    'redirects keep the token within the API only': [
      {
        file: '/fetch/src/call.ts',
        text: "this.followsRedirects = (init.redirect ?? 'follow') === 'follow'",
        instead: 'this.followsRedirects = false',
      },
    ],
    "the caller's own `Authorization` wins": [
      {
        file: '/fetch/src/index.ts',
        text: 'return call.hasOwnAuthorization ? undefined : call',
        instead: 'return call',
      },
    ],
    [live]: sendingOnce,
    'the API is that of the URL, over TLS 1.2': [
      {
        file: '/fetch/src/index.ts',
        text: 'const api = tokens.route(url)',
        instead: `const api = (${once}.api ??= tokens.route(url)) as any`,
      },
      { file: '/fetch/src/index.ts', text: 'dispatcherMustKeepFloor({', instead: 'void ({' },
    ],
  },
}

/** What is left when all of these are taken out. */
export const rest = 'the work that the wrapper does as well, written otherwise'
