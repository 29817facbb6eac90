import { Inject, Module, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common'
import { attachTokens } from '@tokenlane/axios'
import { createTokenManager, envCredentials, generalIssuer, type TokenManager } from '@tokenlane/core'
import axios, { type AxiosInstance } from 'axios'

export const TOKENS: unique symbol = Symbol('tokens')
export const RECORDS_API: unique symbol = Symbol('records API')

function createTokens(): TokenManager {
  const { AUTH_URL = '', API_URL = '' } = process.env
  return createTokenManager({
    issuers: { general: generalIssuer({ authUrl: AUTH_URL, credentials: envCredentials('GENERAL') }) },
    apis: [{ baseUrl: API_URL, issuer: 'general' }],
  })
}

function createRecordsApi(tokens: TokenManager): AxiosInstance {
  const client = axios.create({ baseURL: process.env['API_URL'] ?? '' })
  attachTokens(client, tokens)
  return client
}

@Module({
  providers: [
    { provide: TOKENS, useFactory: createTokens },
    { provide: RECORDS_API, useFactory: createRecordsApi, inject: [TOKENS] },
  ],
  exports: [TOKENS, RECORDS_API],
})
export class TokensModule implements OnApplicationBootstrap, OnApplicationShutdown {
  @Inject(TOKENS) private readonly tokens!: TokenManager

  onApplicationBootstrap(): Promise<void> {
    return this.tokens.warmUp()
  }

  onApplicationShutdown(): Promise<void> {
    return this.tokens.close()
  }
}
