import { HttpService } from '@nestjs/axios'
import {
  Catch,
  Controller,
  Get,
  HttpException,
  HttpStatus,
  Inject,
  Module,
  Param,
  type ArgumentsHost,
} from '@nestjs/common'
import { APP_FILTER, BaseExceptionFilter } from '@nestjs/core'
import { isTokenlaneError, type ManagerStatus, type TokenManager } from '@tokenlane/core'
import type { Response } from 'express'
import { firstValueFrom } from 'rxjs'
import { TOKENS, TokensModule } from './tokens.module.ts'

@Controller()
class AppController {
  @Inject(TOKENS) private readonly tokens!: TokenManager
  @Inject(HttpService) private readonly http!: HttpService

  @Get('health')
  health(): ManagerStatus {
    // an instance out of rotation gets no calls, so nothing else renews its token
    this.tokens.warmUp().catch(() => {})
    const status = this.tokens.status()
    const healthy = Object.values(status.issuers).every(
      ({ token, lastError }) => token === 'live' || lastError === undefined,
    )
    if (!healthy) throw new HttpException(status, HttpStatus.SERVICE_UNAVAILABLE)
    return status
  }

  @Get('records/:id')
  async record(@Param('id') id: string): Promise<unknown> {
    const { data } = await firstValueFrom(this.http.get<unknown>(`records/${encodeURIComponent(id)}`))
    return data
  }
}

@Catch()
class WithoutToken extends BaseExceptionFilter {
  override catch(error: unknown, host: ArgumentsHost): void {
    if (!isTokenlaneError(error)) return super.catch(error, host)
    host.switchToHttp().getResponse<Response>().status(503).json({ code: error.code })
  }
}

@Module({
  imports: [TokensModule],
  controllers: [AppController],
  providers: [{ provide: APP_FILTER, useClass: WithoutToken }],
})
export class AppModule {}
