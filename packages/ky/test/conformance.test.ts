import { conformance, type Driver } from '@tokenlane/conformance'
import { responseOf } from '@tokenlane/testing/fetch-driver'
import ky, { isHTTPError, isNetworkError, isTimeoutError, type KyInstance, type Options } from 'ky'

import { kyTokens } from '../src/index.ts'

const driver: Driver<KyInstance> = {
  name: 'ky',
  create: () => ky.create({ retry: 0, timeout: false }),
  attach: (client, tokens) => ({ client: client.extend(kyTokens(tokens)) }),
  async send(client, { url, method, headers, body, signal, timeout, retries, stream, tokenlane, show }) {
    const options: Options = {
      method: method ?? 'GET',
      ...(headers && { headers }),
      ...(body?.kind === 'JSON'
        ? { json: body.value }
        : body && { body: body.value as NonNullable<Options['body']>, duplex: 'half' }),
      ...(signal && { signal }),
      ...(timeout !== undefined && { timeout }),
      ...(retries !== undefined && { retry: { limit: retries, delay: () => 0 } }),
      ...(tokenlane && { tokenlane }),
      ...(show && { hooks: { beforeRequest: [show], beforeRetry: [show] } }),
    }
    show?.(options)
    return responseOf(await client(url, options), stream)
  },
  errors: {
    isAbort: (error) => error instanceof DOMException && error.name === 'AbortError',
    isTimeout: isTimeoutError,
    // ky does not know Bun's, which begin with the code
    isNetwork: (error) =>
      isNetworkError(error) || (error instanceof TypeError && error.message.startsWith('ECONN')),
    statusOf: (error) => (isHTTPError(error) ? error.response.status : undefined),
    members: ['request', 'options'],
  },
  limits: {
    detach: {
      reason: '`ky.extend` makes a new instance.',
      instead: 'The original instance sends no token.',
    },
  },
}

conformance(driver)
