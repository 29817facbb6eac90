import { callbackify } from 'node:util'
import {
  credentials,
  Metadata,
  status,
  type CallCredentials,
  type ServiceError,
} from '@grpc/grpc-js'
import type { TokenManager } from '@tokenlane/core'

/** Gives every call on a channel a live token, streaming calls included. */
export function callCredentials(
  tokens: TokenManager,
  issuer: string,
): CallCredentials {
  const metadata = callbackify(async () => {
    const { value } = await tokens.getToken(issuer)
    return withAuthorization(`Bearer ${value}`)
  })
  return credentials.createFromMetadataGenerator((_, done) => metadata(done))
}

/**
 * Makes a unary call with a live token, and repeats it once after UNAUTHENTICATED. `url` says which of the
 * manager's APIs the gRPC server belongs to.
 */
export async function unary<Response>(
  tokens: TokenManager,
  url: string,
  call: (
    metadata: Metadata,
    done: (error: ServiceError | null, response?: Response) => void,
  ) => void,
): Promise<Response | undefined> {
  const api = tokens.route(url)
  if (api === undefined) throw new Error(`${url} belongs to no API`)
  const { error, response } = await api.send(async (authorization) => {
    const result = await new Promise<{
      error: ServiceError | null
      response?: Response
    }>((resolve) =>
      call(withAuthorization(authorization), (failure, answer) =>
        resolve({
          error: failure,
          ...(answer !== undefined && { response: answer }),
        }),
      ),
    )
    const isRefused = result.error?.code === status.UNAUTHENTICATED
    return { status: isRefused ? 401 : 200, result, discard() {} }
  })
  if (error !== null) throw error
  return response
}

function withAuthorization(authorization: string): Metadata {
  const metadata = new Metadata()
  metadata.set('authorization', authorization)
  return metadata
}
