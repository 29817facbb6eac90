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

/** Returns the schema of a body: the fields of an object parameter stand beside the other parameters. */
function bodySchema(parameters: readonly Parameter<unknown>[]): Json {
  const fields = parameters.map((parameter) => {
    const described = jsonSchema(parameter) as { properties?: Json; required?: string[] }
    const { name, spread } = parameter
    if (spread) return { properties: described.properties, required: described.required ?? [] }
    return { properties: { [name]: described }, required: isRequired(parameter) ? [name] : [] }
  })
  return {
    type: 'object',
    properties: Object.assign({}, ...fields.map(({ properties }) => properties)) as Json,
    required: fields.flatMap(({ required }) => required),
    additionalProperties: false,
  }
}
