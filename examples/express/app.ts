import { isTokenlaneError } from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'
import express, { type ErrorRequestHandler, type Express } from 'express'
import { apiUrl, tokens } from './tokens.ts'

const fetch = createFetch(tokens)

export const app: Express = express()

app.get('/health', (_request, response) => {
  // an instance out of rotation gets no calls, so nothing else renews its token
  tokens.warmUp().catch(() => {})
  const status = tokens.status()
  const healthy = Object.values(status.issuers).every(
    ({ token, lastError }) => token === 'live' || lastError === undefined,
  )
  response.status(healthy ? 200 : 503).json(status)
})

app.get('/records/:id', async (request, response) => {
  const gone = new AbortController()
  response.once('close', () => gone.abort())

  const url = new URL(`records/${encodeURIComponent(request.params.id)}`, apiUrl)
  const answer = await fetch(url, { signal: gone.signal })
  response.status(answer.status).json(await answer.json())
})

const withoutToken: ErrorRequestHandler = (error, _request, response, next) => {
  if (!isTokenlaneError(error)) return next(error)
  response.status(503).json({ code: error.code })
}
app.use(withoutToken)
