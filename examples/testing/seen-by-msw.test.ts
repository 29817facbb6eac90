import { http, HttpResponse } from 'msw'
import { setupServer } from 'msw/node'
import { onTestFinished } from 'vitest'
import { Seen, seesTheCallsOf } from './seen.ts'

// msw does not see `request` of undici
seesTheCallsOf(['fetch', 'axios', 'got', 'ky'], () => {
  const seen = new Seen()
  const server = setupServer(
    http.post('https://auth.example.com/public/security/v1/token', () =>
      HttpResponse.json(seen.tokenResponse()),
    ),
    http.get('https://api.example.com/records', ({ request }) =>
      HttpResponse.json({}, { status: seen.status(request.headers.get('authorization')) }),
    ),
  )
  server.listen({ onUnhandledFrame: 'error' })
  onTestFinished(() => server.close())
  return seen
})
