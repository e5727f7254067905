/* url.c - addresses of collectors and relays. */
#define _DEFAULT_SOURCE
#include "host/base/url.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

static const char *url_authority(const char *url)
{
    static const char *const schemes[] = {"http://", "https://"};

    for (size_t i = 0; i < 2; i++)
        if (strncasecmp(url, schemes[i], strlen(schemes[i])) == 0)
            return url + strlen(schemes[i]);
    return NULL;
}

/* The host without its port; a name may end with a dot that means nothing. */
static size_t url_host(const char **host, const char *url)
{
    size_t len;

    *host = url_authority(url);
    if (*host == NULL)
        *host = url;
    if ((*host)[0] == '[')
        return strcspn(*host, "]");
    len = strcspn(*host, ":/?#");
    return len > 1 && (*host)[len - 1] == '.' ? len - 1 : len;
}

bool url_ok(const char *url)
{
    const char *host = url_authority(url);

    return host != NULL && host[0] != '\0' && strchr("/:?#", host[0]) == NULL &&
           strpbrk(url, "?#@\\\"<>^`{|} \t\r\n") == NULL;
}

bool url_same_host(const char *a, const char *b)
{
    const char *one, *other;
    const size_t len = url_host(&one, a);

    return len == url_host(&other, b) && strncasecmp(one, other, len) == 0;
}

bool url_loopback(const char *url)
{
    const char *host;
    const size_t len = url_host(&host, url);

    return (len == 9 && strncasecmp(host, "localhost", len) == 0) ||
           (len == 4 && strncmp(host, "[::1", len) == 0) ||
           (len > 4 && strncmp(host, "127.", 4) == 0 &&
            strspn(host, "0123456789.") == len);
}
