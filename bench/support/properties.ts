import type { Client } from '../children/caller.ts'
import type { TakenOut } from './taken-out.ts'

/** What every client's calls have. */
const common: Readonly<Record<string, readonly TakenOut[]>> = {
  'two clocks for the age of the token': [
    {
      file: '/core/src/time/expiry.ts',
      text: 'return Date.now() >= this.#wall || performance.now() >= this.#monotonic',
      instead: 'return false',
    },
  ],
}

/** By client, in the order in which it is taken out: the property, as a reader of the guide knows it, and its code. */
export const properties: Readonly<Record<Client, Readonly<Record<string, readonly TakenOut[]>>>> = {
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
    'a live token each time, one more attempt after a 401, and `close()` waits': [
      {
        file: '/axios/src/managed-adapter.ts',
        text: 'await api.send(',
        instead: `await ((globalThis as any).sendOnce ??= (() => {
          const pass = api.admitNow() as any
          const { authorization } = pass
          pass.release()
          return async (attempt: any) => (await attempt(authorization)).result
        })())(`,
      },
    ],
    'the API is that of the URL, over TLS 1.2': [
      {
        file: '/axios/src/managed-adapter.ts',
        text: 'url === undefined ? undefined : tokens.route(url)',
        instead: '((globalThis as any).apiOnce ??= tokens.route(url as string))',
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
  },
}

/** What is left when all of these are taken out. */
export const rest = 'the work that the wrapper does as well, written otherwise'
