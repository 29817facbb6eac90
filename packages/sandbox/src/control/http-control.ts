import { createServer } from 'node:http'
import { Readable } from 'node:stream'

import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { methodNotAllowed } from 'hono/method-not-allowed'

import { check, object, optional, wholeNumber } from '../allowed.ts'
import { objectIn } from '../in-words.ts'
import { closing, listen } from '../server/loopback-server.ts'
import { hostIn, type Place } from '../server/place.ts'
import { consolePage, securityHeaders } from './console-page.ts'
import { definitions, type ControlName } from './definitions.ts'
import { events, type EventSource } from './events.ts'
import { problemDetails, refuseStrangers, requireToken } from './refusals.ts'
import { namedArguments, pathOf } from './arguments.ts'
import { openApi } from './openapi.ts'
import type { SandboxControl } from './sandbox-control.ts'

export interface HttpControlOptions extends EventSource {
  control: SandboxControl
  token: string
  ca: string
  place: Place
  port: number | undefined
}

export interface HttpControl {
  /** Without a trailing slash, for example `http://127.0.0.1:8420`. */
  origin: string
  close(): Promise<void>
}

/**
 * Starts HTTP control. It uses plain HTTP, because it never leaves this machine and browsers do not
 * trust the authority of the sandbox.
 */
export async function startHttpControl(options: HttpControlOptions): Promise<HttpControl> {
  const { control, listen: hear, token, ca, place } = options
  const server = createServer()
  const close = closing(server)
  const port = await listen(server, place, options.port)
  const origin = `http://${hostIn(place.name)}:${port}`
  const guard = { hosts: place.names.map((name) => `${hostIn(name)}:${port}`), token }

  const app = new Hono()
  app.onError((error) => problemDetails(error))
  app.notFound(({ req }) => {
    const known = `see ${origin}/openapi.json`
    const detail =
      req.path === '/' ? 'This build has no console page' : `Unknown ${req.method} ${req.path}: ${known}`
    return problemDetails(new HTTPException(404, { message: detail }))
  })
  app.use(securityHeaders, async (context, next) => {
    refuseStrangers(context.req.raw.headers, guard)
    await next()
    context.header('cache-control', 'no-store')
  })
  app.use(
    methodNotAllowed({
      app,
      onMethodNotAllowed({ req }, methods) {
        const detail = `Use ${methods[0]} ${req.path}, not ${req.method}`
        const response = problemDetails(new HTTPException(405, { message: detail }))
        response.headers.set('allow', methods.join(', '))
        return response
      },
    }),
  )
  app.get('/openapi.json', (context) => context.json(openApi(origin)))
  app.get('/ca.pem', (context) => context.body(ca, 200, { 'content-type': 'application/x-pem-file' }))

  app.use(consolePage())

  app.use('/v1/*', async ({ req }, next) => {
    await requireToken(req.raw.headers, guard)
    await next()
  })
  app.get('/v1/events', ({ req }) => {
    const last = req.header('last-event-id')
    const given = numbersOf({ ...req.query(), ...(last !== undefined && { 'Last-Event-ID': last }) })
    const { after, 'Last-Event-ID': resumed = after } = check(eventsQuery, given, 'query')
    const stream = Readable.toWeb(Readable.from(events({ control, listen: hear }, resumed)))
    return new Response(stream as ReadableStream, { headers: { 'content-type': 'text/event-stream' } })
  })
  for (const name of Object.keys(definitions) as ControlName[]) {
    const act = control[name] as (...args: unknown[]) => unknown
    const path = pathOf(name)
    if (definitions[name].reads === true) {
      app.get(path, (context) => context.json(act(...namedArguments(name, numbersOf(context.req.query())))))
    } else {
      app.post(path, async (context) =>
        context.json(act(...namedArguments(name, objectOf(await context.req.text()))) ?? {}),
      )
    }
  }

  const respond = getRequestListener((request) => app.fetch(request), { overrideGlobalObjects: false })
  server.on('request', (request, response) => void respond(request, response))
  return { origin, close }
}

const eventsQuery = object<{ after?: number; 'Last-Event-ID'?: number }>({
  after: optional(wholeNumber({})),
  'Last-Event-ID': optional(wholeNumber({})),
})

/** Returns the parameters of a query, with texts of digits only turned into numbers. */
function numbersOf(query: Record<string, string>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => [name, /^\d{1,15}$/.test(value) ? Number(value) : value]),
  )
}

function objectOf(body: string): Record<string, unknown> {
  const given = objectIn(body || '{}')
  if (given !== undefined) return given
  throw new HTTPException(400, { message: 'The body must be a JSON object of named parameters' })
}
