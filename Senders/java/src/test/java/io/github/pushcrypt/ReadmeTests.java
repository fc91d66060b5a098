package io.github.pushcrypt;

import static io.github.pushcrypt.AllTests.*;
import static io.github.pushcrypt.SealingTests.named;
import static io.github.pushcrypt.SealingTests.recipient;

import com.sun.net.httpserver.HttpServer;
import java.io.*;
import java.lang.reflect.InvocationTargetException;
import java.net.*;
import java.nio.file.*;
import java.util.*;
import java.util.regex.*;
import javax.tools.ToolProvider;

/** README.md: its code compiles as it stands, and sends a push that opens. */
final class ReadmeTests {
    private ReadmeTests() {}

    static void run() throws Exception {
        Path folder = Files.createTempDirectory("pushcrypt"), keyset = folder.resolve("backend.keyset");
        Key sender = newSender();
        KeysetWriter.write(keyset, KeysetFileTests.created(sender).plain());
        List<String> requests = new ArrayList<>();
        HttpServer apns = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        apns.createContext("/", exchange -> {
            String body = new String(exchange.getRequestBody().readAllBytes(), "UTF-8");
            requests.add(exchange.getRequestURI() + " " + exchange.getRequestHeaders().getFirst("apns-topic") + " "
                    + exchange.getRequestHeaders().getFirst("authorization"));
            requests.add(body);
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        apns.start();
        try {
            String address = "http://" + apns.getAddress().getHostString() + ":" + apns.getAddress().getPort();
            call(folder, code().replace("https://api.push.apple.com", address).replace("Keys/backend.keyset", keyset.toString()));
        } finally {
            apns.stop(0);
        }
        equal("requests", 2, requests.size());
        equal("the request", "/3/device/abc " + TOPIC + " bearer jwt", requests.get(0));
        String opened = SealingTests.opened(requests.get(1), named("p256 psk"), sender);
        check("the push opens: " + opened, opened.contains("Your results are in."));
    }

    /** The Java of the README, as the body of a method. */
    private static String code() throws IOException {
        String readme = Files.readString(above("README.md", "Senders/java/README.md"));
        List<String> blocks = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL).matcher(readme).results().map(match -> match.group(1)).toList();
        equal("blocks of Java", 2, blocks.size());
        return String.join("", blocks);
    }

    private static void call(Path folder, String code) throws Exception {
        Path source = Files.writeString(folder.resolve("Readme.java"), "import io.github.pushcrypt.*;\nimport io.github.pushcrypt.Registration.Demand;\n"
                + "import java.net.URI;\nimport java.net.http.*;\nimport java.nio.file.Path;\nimport java.util.*;\npublic class Readme {\n"
                + "static void log(String text) {}\npublic static void run(String upload, String deviceToken, String token) throws Exception {\n" + code + "}\n}\n");
        ByteArrayOutputStream messages = new ByteArrayOutputStream();
        int status = ToolProvider.getSystemJavaCompiler().run(null, messages, messages, "-cp", System.getProperty("java.class.path"), "-d", folder.toString(), source.toString());
        equal("it compiles: " + messages, 0, status);
        try (URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()})) {
            loader.loadClass("Readme").getMethod("run", String.class, String.class, String.class).invoke(null, recipient("p256 psk").toJwk(), "abc", "jwt");
        } catch (InvocationTargetException e) {
            check("it runs: " + e.getCause(), false);
        }
    }
}
