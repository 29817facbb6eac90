import type { TokenManager } from '@tokenlane/core'
import { Agent, DecoratorHandler, WebSocket, type Dispatcher } from 'undici'

const agent = new Agent()

/** Opens an undici WebSocket with a live token. A 401 costs one renewal and one more handshake. */
export async function openUndiciSocket(
  tokens: TokenManager,
  url: string,
): Promise<WebSocket> {
  const api = tokens.route(url.replace(/^ws/, 'http'))
  if (api === undefined) throw new Error(`${url} belongs to no API`)
  const { socket, status } = await api.send((authorization) =>
    handshake(url, authorization),
  )
  if (status !== 101) throw new Error(`No WebSocket: status ${status}`)
  return socket
}

async function handshake(url: string, authorization: string) {
  let refusal = 0
  const dispatcher = agent.compose(noting((status) => (refusal = status)))
  const socket = new WebSocket(url, { headers: { authorization }, dispatcher })
  const status = await new Promise<number>((resolve, reject) => {
    socket.addEventListener('open', () => resolve(101))
    socket.addEventListener('error', ({ error }) =>
      refusal === 0 ? reject(error) : resolve(refusal),
    )
  })
  return { status, result: { socket, status }, discard: () => socket.close() }
}

/** Notes the status of a refused handshake, which a WebSocket does not tell. */
function noting(
  note: (status: number) => void,
): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) =>
    dispatch(options, new Noting(handler, note))
}

/** undici's types leave out what the class has. */
const Decorator = DecoratorHandler as new (
  handler: Dispatcher.DispatchHandler,
) => Dispatcher.DispatchHandler
type OnResponseStart = NonNullable<
  Dispatcher.DispatchHandler['onResponseStart']
>

class Noting extends Decorator {
  readonly #note: (status: number) => void
  constructor(
    handler: Dispatcher.DispatchHandler,
    note: (status: number) => void,
  ) {
    super(handler)
    this.#note = note
  }
  override onResponseStart(...given: Parameters<OnResponseStart>): void {
    this.#note(given[1])
    super.onResponseStart?.(...given)
  }
}
