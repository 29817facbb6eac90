import { HttpModule, HttpService } from '@nestjs/axios'
import {
  Inject,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common'
import { ConfigModule, ConfigService } from '@nestjs/config'
import { attachTokens } from '@tokenlane/axios'
import { createTokenManager, envCredentials, generalIssuer, type TokenManager } from '@tokenlane/core'

export const TOKENS: unique symbol = Symbol('tokens')

function createTokens(config: ConfigService): TokenManager {
  return createTokenManager({
    issuers: {
      general: generalIssuer({
        authUrl: config.getOrThrow<string>('AUTH_URL'),
        // read again at every renewal; ConfigModule has put the `.env` file into the environment
        credentials: envCredentials('GENERAL'),
      }),
    },
    apis: [{ baseUrl: config.getOrThrow<string>('API_URL'), issuer: 'general' }],
  })
}

const http = HttpModule.registerAsync({
  inject: [ConfigService],
  useFactory: (config: ConfigService) => ({ baseURL: config.getOrThrow<string>('API_URL') }),
})

/** Provides the manager, and an `HttpService` whose calls have tokens. */
@Module({
  imports: [ConfigModule.forRoot({ isGlobal: true }), http],
  providers: [{ provide: TOKENS, useFactory: createTokens, inject: [ConfigService] }],
  exports: [TOKENS, http],
})
export class TokensModule implements OnModuleInit, OnApplicationBootstrap, OnApplicationShutdown {
  @Inject(TOKENS) private readonly tokens!: TokenManager
  @Inject(HttpService) private readonly http!: HttpService

  onModuleInit(): void {
    attachTokens(this.http.axiosRef, this.tokens)
  }

  onApplicationBootstrap(): Promise<void> {
    return this.tokens.warmUp()
  }

  onApplicationShutdown(): Promise<void> {
    return this.tokens.close()
  }
}
