import { toJsonSchema } from '@valibot/to-json-schema'

import { definitions, type ControlName, type Definition, type Parameter } from './definitions.ts'
import { pathOf } from './arguments.ts'

type Json = Record<string, unknown>

/** Returns the description of HTTP control in OpenAPI 3.1, made from the definitions that validate its input. */
export function openApi(origin: string): Json {
  const names = Object.keys(definitions) as ControlName[]
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tokenlane sandbox',
      version: '1',
      description:
        'The control functions of @tokenlane/sandbox, over HTTP: each does what the function of its name does.',
    },
    servers: [{ url: origin }],
    security: [{ token: [] }],
    paths: {
      ...Object.fromEntries(names.map((name) => [pathOf(name), pathItem(name)])),
      '/v1/events': { get: events },
    },
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      responses: {
        Problem: {
          description: 'What is wrong with the request (RFC 9457).',
          content: { 'application/problem+json': { schema: problemSchema } },
        },
      },
    },
  }
}

const responses = {
  200: { description: 'Done.', content: { 'application/json': { schema: {} } } },
  default: { $ref: '#/components/responses/Problem' },
}

const problemSchema = {
  type: 'object',
  required: ['title', 'status', 'detail'],
  properties: {
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    errors: { type: 'array', items: { type: 'object', properties: { detail: { type: 'string' } } } },
  },
}

const events = {
  operationId: 'events',
  summary: 'Sends every new journal entry, and the state about twice a second, as server-sent events.',
  parameters: [{ name: 'after', in: 'query', schema: { type: 'integer', minimum: 0 } }],
  responses: {
    200: { description: 'Events `journal` and `state`.', content: { 'text/event-stream': {} } },
    default: { $ref: '#/components/responses/Problem' },
  },
}

function pathItem(name: ControlName): Json {
  const { reads, parameters }: Definition<readonly unknown[]> = definitions[name]
  const operation = { operationId: name, responses }
  if (reads === true) return { get: { ...operation, parameters: parameters.flatMap(queryParameters) } }
  if (parameters.length === 0) return { post: operation }
  const content = { 'application/json': { schema: bodySchema(parameters) } }
  return { post: { ...operation, requestBody: { required: parameters.some(isRequired), content } } }
}

const isRequired = ({ schema }: Parameter<unknown>): boolean => schema.type !== 'optional'

/** Returns a schema as JSON Schema, without messages and custom checks, which JSON Schema cannot express. */
function jsonSchema({ schema }: Parameter<unknown>): Json {
  const { $schema: _, ...described } = toJsonSchema(schema, {
    errorMode: 'ignore',
    typeMode: 'input',
  }) as Json
  return described
}

function queryParameters(parameter: Parameter<unknown>): Json[] {
  const { properties } = jsonSchema(parameter) as { properties?: Json }
  return Object.entries(properties ?? {}).map(([name, described]) => ({
    name,
    in: 'query',
    schema: described,
  }))
}

/** Returns the schema of a body. Fields of an object parameter may stand under its name or beside the other parameters. */
function bodySchema(parameters: readonly Parameter<unknown>[]): Json {
  const nested = objectSchema(
    parameters.map((parameter) => [parameter.name, jsonSchema(parameter)]),
    parameters.filter(isRequired).map(({ name }) => name),
  )
  const spread = parameters.find((parameter) => parameter.spread === true)
  if (spread === undefined) return nested
  const others = parameters.filter((parameter) => parameter !== spread)
  const fields = jsonSchema(spread) as { properties?: Json; required?: string[] }
  const flat = objectSchema(
    [
      ...others.map((parameter): [string, Json] => [parameter.name, jsonSchema(parameter)]),
      ...(Object.entries(fields.properties ?? {}) as [string, Json][]),
    ],
    [...others.filter(isRequired).map(({ name }) => name), ...(fields.required ?? [])],
  )
  return { anyOf: [flat, nested] }
}

function objectSchema(properties: [string, Json][], required: string[]): Json {
  return { type: 'object', properties: Object.fromEntries(properties), required, additionalProperties: false }
}
