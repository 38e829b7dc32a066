import java.io.*;

public class Serve {
    public static void main(String[] ignored) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err);
        BufferedReader files = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String in; (in = files.readLine()) != null; ) {
            String store = files.readLine(), out = files.readLine();
            edu.anu.spice.SpiceScorer.main(new String[] {in, "-cache", store, "-out", out, "-subset", "-silent"});
            answers.println("done");
            answers.flush();
        }
        System.exit(0);
    }
}
