import { isTokenlaneError } from '@tokenlane/core'
import { gotTokens } from '@tokenlane/got'
import Fastify, { type FastifyInstance } from 'fastify'
import got from 'got'
import { apiUrl, tokens } from './tokens.ts'

const api = got.extend(gotTokens(tokens))

export const app: FastifyInstance = Fastify()

app.addHook('onReady', () => tokens.warmUp())
app.addHook('onClose', () => tokens.close())

app.get('/health', (_request, reply) => {
  // an instance out of rotation gets no calls, so nothing else renews its token
  tokens.warmUp().catch(() => {})
  const status = tokens.status()
  const healthy = Object.values(status.issuers).every(
    ({ token, lastError }) => token === 'live' || lastError === undefined,
  )
  return reply.code(healthy ? 200 : 503).send(status)
})

app.get<{ Params: { id: string } }>('/records/:id', async (request, reply) => {
  const url = new URL(`records/${encodeURIComponent(request.params.id)}`, apiUrl)
  const answer = await api(url, { responseType: 'json', throwHttpErrors: false, signal: request.signal })
  return reply.code(answer.statusCode).send(answer.body)
})

app.setErrorHandler((error, _request, reply) =>
  isTokenlaneError(error) ? reply.code(503).send({ code: error.code }) : reply.send(error),
)
