/* url.c - addresses of collectors and relays. */
#define _DEFAULT_SOURCE
#include "host/base/url.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define URL_HOST 255u /* bytes of a host; DNS has no longer names */

static const char *url_authority(const char *url)
{
    static const char *const schemes[] = {"http://", "https://"};

    for (size_t i = 0; i < 2; i++)
        if (strncasecmp(url, schemes[i], strlen(schemes[i])) == 0)
            return url + strlen(schemes[i]);
    return NULL;
}

/* The host of a URL without its port. */
struct url_host {
    char name[URL_HOST + 1]; /* an IPv6 address has its '[' but not its ']' */
    bool numeric;            /* the name is an address, in any spelling */
    uint8_t address[16];     /* IPv4 as ::ffff:a.b.c.d */
};

/* inet_aton reads the same integer, hexadecimal and short forms as libcurl
 * does. A name may end with a dot that means nothing. Returns the length of the
 * host in the URL. */
static size_t url_host(struct url_host *h, const char *url)
{
    static const uint8_t mapped[12] = {[10] = 0xff, 0xff};
    const char *at = url_authority(url);
    struct in_addr v4;
    size_t len;

    if (at == NULL)
        at = url;
    len = strcspn(at, at[0] == '[' ? "]" : ":/?#");
    snprintf(h->name, sizeof h->name, "%.*s",
             (int)(len < URL_HOST ? len : URL_HOST), at);
    if (h->name[0] == '[') {
        h->numeric = inet_pton(AF_INET6, h->name + 1, h->address) == 1;
        return len;
    }
    if (len > 1 && len <= URL_HOST && h->name[len - 1] == '.')
        h->name[len - 1] = '\0';
    h->numeric = inet_aton(h->name, &v4) != 0;
    if (h->numeric) {
        memcpy(h->address, mapped, sizeof mapped);
        memcpy(h->address + sizeof mapped, &v4, sizeof v4);
    }
    return len;
}

bool url_ok(const char *url)
{
    struct url_host host;

    return url_authority(url) != NULL && url_host(&host, url) <= URL_HOST &&
           host.name[0] != '\0' && strchr(host.name, '%') == NULL &&
           strpbrk(url, "?#@\\\"<>^`{|} \t\r\n") == NULL;
}

bool url_same_host(const char *a, const char *b)
{
    struct url_host one, other;

    url_host(&one, a);
    url_host(&other, b);
    if (one.numeric && other.numeric)
        return memcmp(one.address, other.address, sizeof one.address) == 0;
    return strcasecmp(one.name, other.name) == 0;
}

bool url_loopback(const char *url)
{
    static const uint8_t v4[13] = {[10] = 0xff, 0xff, 127};
    static const uint8_t v6[16] = {[15] = 1};
    struct url_host host;

    url_host(&host, url);
    if (!host.numeric)
        return strcasecmp(host.name, "localhost") == 0;
    return memcmp(host.address, v4, sizeof v4) == 0 ||
           memcmp(host.address, v6, sizeof v6) == 0;
}
