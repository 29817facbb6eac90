import type { Exchange } from '../src/adapter.ts'
import type { Api, RatePolicy } from '../src/index.ts'
import { fakeService, type FakeService } from './fake-issuer.ts'

/** An API with this policy, whose answers take 10 ms and say what `answers` holds. */
export function limitedApi(ratePolicy: RatePolicy): FakeService & {
  api: Api
  sentAt: number[]
  call: (options?: { signal?: AbortSignal; priority?: number; name?: string }) => Promise<string>
  order: string[]
  answers: Partial<Exchange<string>>[]
} {
  const service = fakeService(
    {},
    { apis: [{ baseUrl: 'https://api.example.com/', issuer: 'general', ratePolicy }] },
  )
  const api = service.tokens.route('https://api.example.com/')
  if (api === undefined) throw new Error('no API')
  const sentAt: number[] = []
  const order: string[] = []
  const answers: Partial<Exchange<string>>[] = []
  const start = performance.now()
  return {
    ...service,
    api,
    sentAt,
    order,
    answers,
    call: ({ name = '', ...options } = {}) =>
      api.send(async (authorization) => {
        sentAt.push(performance.now() - start)
        order.push(name)
        const answer = answers.shift()
        await new Promise((resolve) => setTimeout(resolve, 10))
        return { status: 200, result: authorization, discard() {}, ...answer }
      }, options),
  }
}
