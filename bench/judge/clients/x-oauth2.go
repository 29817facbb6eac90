// golang.org/x/oauth2, as the documentation of its package clientcredentials shows.
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

func client(prefix string) *http.Client {
	config := clientcredentials.Config{
		ClientID:     os.Getenv(prefix + "_CLIENT_ID"),
		ClientSecret: os.Getenv(prefix + "_CLIENT_SECRET"),
		TokenURL:     os.Getenv(prefix + "_TOKEN_URL"),
		AuthStyle:    oauth2.AuthStyleInParams,
	}
	if scope := os.Getenv(prefix + "_SCOPE"); scope != "" {
		config.Scopes = []string{scope}
	}
	return config.Client(context.Background())
}

func main() {
	callers, _ := strconv.Atoi(os.Getenv("CALLERS"))
	for prefix, baseURL := range map[string]string{"GENERAL": os.Getenv("API_URL"), "WEBLINK": os.Getenv("WEBLINK_URL")} {
		client, baseURL, number := client(prefix), baseURL, new(int64)
		for index := 0; index < callers; index++ {
			go func() {
				for {
					url := fmt.Sprintf("%srecords/INV-%07d", baseURL, atomic.AddInt64(number, 1))
					if response, err := client.Get(url); err == nil {
						io.Copy(io.Discard, response.Body)
						response.Body.Close()
					}
					time.Sleep(20 * time.Millisecond)
				}
			}()
		}
	}
	select {}
}
