// A bot and its test, with the standard library alone.
package echobot

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// Of the demo world.
const (
	app, account, number = "3000000000000001", "1000000000000001", "4000000000000001"
	user, verifyToken    = "16505551234", "test-verify-token"
	secret               = "shrub-app-secret"
)

type object = map[string]any

type switchboard struct{ url string }

// startSwitchboard runs a server for one test, on a free port, with a store of its own.
func startSwitchboard(t *testing.T) switchboard {
	t.Helper()
	command := os.Getenv("SWITCHBOARD_COMMAND")
	if command == "" {
		command = "npx @switchboard/server"
	}
	args := append(strings.Fields(command), "serve", "--port", "0", "--data", t.TempDir())
	server := exec.Command(args[0], args[1:]...)
	out, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
	})
	line, _ := bufio.NewReader(out).ReadString('\n')
	_, address, found := strings.Cut(strings.TrimSpace(line), "switchboard listening on ")
	if !found {
		t.Fatalf("the server did not start: %q", line)
	}
	return switchboard{address}
}

func (sb switchboard) call(method, path, token string, body, result any) error {
	sent, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequest(method, sb.url+path, bytes.NewReader(sent))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	received, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %d %s", method, path, response.StatusCode, received)
	}
	if err != nil || result == nil {
		return err
	}
	return json.Unmarshal(received, result)
}

// echoBot is the app under test: it echoes what users write.
func echoBot(sb switchboard) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet { // the handshake
			if r.FormValue("hub.verify_token") == verifyToken {
				fmt.Fprint(w, r.FormValue("hub.challenge"))
			} else {
				w.WriteHeader(http.StatusForbidden)
			}
			return
		}
		body, _ := io.ReadAll(r.Body)
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(body)
		signature := "sha256=" + hex.EncodeToString(mac.Sum(nil))
		if !hmac.Equal([]byte(signature), []byte(r.Header.Get("X-Hub-Signature-256"))) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		var event struct {
			Entry []struct {
				Changes []struct {
					Value struct {
						Messages []struct {
							From string
							Text struct{ Body string }
						}
					}
				}
			}
		}
		err := json.Unmarshal(body, &event)
		for _, entry := range event.Entry {
			for _, change := range entry.Changes {
				for _, message := range change.Value.Messages {
					reply := object{"messaging_product": "msgapp", "to": message.From, "type": "text",
						"text": object{"body": "You wrote: " + message.Text.Body}}
					err = sb.call("POST", "/v23.0/"+number+"/messages", "demo-token", reply, nil)
				}
			}
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}
}

func TestEchoBot(t *testing.T) {
	sb := startSwitchboard(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	bot := httptest.NewServer(echoBot(sb))
	defer bot.Close()
	must(sb.call("POST", "/v23.0/"+app+"/subscriptions", "demo-token", object{
		"object": "msgapp_business_account", "fields": []string{"messages"},
		"callback_url": bot.URL, "verify_token": verifyToken}, nil))
	must(sb.call("POST", "/v23.0/"+account+"/subscribed_apps", "demo-token", object{}, nil))

	// The user writes, and waits for what comes after that.
	var written struct {
		ID string `json:"message_id"`
	}
	must(sb.call("POST", "/gateway/messages", "demo-gateway-token", object{
		"phone_number_id": number, "from": user, "type": "text", "text": object{"body": "Hello?"}}, &written))
	query := url.Values{"user_wa_id": {user}, "phone_number_id": {number}, "after": {written.ID}, "timeout": {"5s"}}
	var reply struct{ Text struct{ Body string } }
	must(sb.call("GET", "/gateway/wait?"+query.Encode(), "demo-gateway-token", nil, &reply))
	if reply.Text.Body != "You wrote: Hello?" {
		t.Errorf("the reply is %q", reply.Text.Body)
	}
	must(sb.call("GET", "/operator/wait?type=event&field=messages&kind=delivered&since=1m&timeout=5s",
		"demo-operator-token", nil, nil))
}
