import { ResponseExchange } from '@tokenlane/core'

/** One answer, as core judges it. */
export async function exchange(answer: Promise<Response>): Promise<ResponseExchange> {
  return new ResponseExchange(await answer)
}
